"""From what MODEL says to a folder that the engine can load."""

import json
from pathlib import Path

import pytest

from app.errors import ModelUnavailable
from app.llm.convert import RECIPE
from app.llm.models import QWEN_1_5B, SMOLLM2_135M
from app.llm.weights import Weights, ensure_weights


def converted(cache_dir: Path, name: str) -> Path:
    """Where an earlier start has left converted weights."""
    folder = cache_dir / "models" / f"{name}-int8"
    folder.mkdir(parents=True)
    (folder / "recipe.json").write_text(json.dumps({"recipe": RECIPE}))
    return folder


def test_a_name_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"unknown model 'gpt-2'; use one of .*, or a path to weights"):
        ensure_weights("gpt-2", "cpu", tmp_path)


@pytest.mark.parametrize("name", ["nothing", "nothing.gguf"])
def test_a_path_that_does_not_exist_is_refused(tmp_path: Path, name: str) -> None:
    missing = str(tmp_path / name)

    with pytest.raises(ModelUnavailable) as refused:
        ensure_weights(missing, "cpu", tmp_path)

    assert str(refused.value).startswith(f"MODEL is {missing!r}, which does not exist")


def test_a_gguf_file_needs_no_slash_to_be_taken_for_a_path(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"MODEL is 'nothing.gguf', which does not exist"):
        ensure_weights("nothing.gguf", "cpu", tmp_path)


def test_a_folder_without_a_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"which has no config.json; give a folder in Hugging Face form"):
        ensure_weights(str(tmp_path), "cpu", tmp_path)


def test_a_folder_in_hugging_face_form_is_served_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "my-model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")

    weights = ensure_weights(str(folder), "cpu", tmp_path / "cache")

    assert weights == Weights("my-model", folder)
    assert not (tmp_path / "cache").exists()


def test_weights_that_are_converted_are_not_fetched_again(tmp_path: Path) -> None:
    folder = converted(tmp_path, SMOLLM2_135M.name)

    weights = ensure_weights(SMOLLM2_135M.name, "cpu", tmp_path)

    assert weights == Weights(f"{SMOLLM2_135M.name}/int8", folder)


def test_auto_is_the_default_of_the_hardware(tmp_path: Path) -> None:
    folder = converted(tmp_path, QWEN_1_5B.name)

    assert ensure_weights("auto", "cpu", tmp_path).folder == folder


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ModelUnavailable, match=r"CACHE_DIR .* cannot be written"):
        ensure_weights(SMOLLM2_135M.name, "cpu", tmp_path / "file" / "cache")
