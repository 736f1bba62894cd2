"""A socket must have a path that Linux, libpq and Postgres all accept."""

from pathlib import Path

import pytest

from app.store.postgres_place import SOCKET_NAME, SOCKET_PATH_BYTES, _fits


def _folder(socket_path_bytes: int, letter: str) -> Path:
    return Path("/" + letter * ((socket_path_bytes - len(SOCKET_NAME) - 2) // len(letter.encode())))


@pytest.mark.parametrize(
    ("folder", "fits"),
    [
        (_folder(SOCKET_PATH_BYTES, "a"), True),
        (_folder(SOCKET_PATH_BYTES + 1, "a"), False),
        (_folder(SOCKET_PATH_BYTES + 2, "é"), False),
        (Path("/data/of ours"), True),
        (Path("/data/a,b"), False),
    ],
)
def test_a_socket_folder_fits_up_to_107_bytes_and_without_a_comma(folder: Path, fits: bool) -> None:
    assert _fits(folder) is fits
