"""What is known about the models, before a byte of them is fetched."""

import re

import pytest

from app.errors import ModelUnavailable
from app.llm.models import (
    CATALOGUE,
    LLAMA_3_1_8B,
    QWEN_1_5B,
    GgufModel,
    HubModel,
    Model,
    PackagedParts,
    default_model,
    find_model,
)

GGUF_MODELS = [model for model in CATALOGUE.values() if isinstance(model, GgufModel)]
HUB_MODELS = [model for model in CATALOGUE.values() if isinstance(model, HubModel)]


@pytest.mark.parametrize(
    ("name", "licence", "file_bytes"),
    [
        ("qwen2.5-coder-1.5b-instruct", "Apache-2.0", 1_117_320_768),
        ("qwen2.5-coder-0.5b-instruct", "Apache-2.0", 491_400_064),
        ("smollm2-135m-instruct", "Apache-2.0", 98_362_432),
        ("llama-3.1-8b-instruct", "Llama 3.1 Community License", 16_060_556_376),
    ],
)
def test_a_model_is_found_by_its_name_with_its_licence_and_size(name: str, licence: str, file_bytes: int) -> None:
    model = find_model(name)

    assert (model.name, model.licence, model.file_bytes) == (name, licence, file_bytes)


@pytest.mark.parametrize("model", GGUF_MODELS, ids=lambda model: model.name)
def test_a_packaged_file_can_be_verified(model: GgufModel) -> None:
    assert re.fullmatch("[0-9a-f]{64}", model.sha256)


@pytest.mark.parametrize("model", HUB_MODELS, ids=lambda model: model.name)
def test_a_hub_model_is_pinned_to_one_commit(model: HubModel) -> None:
    assert re.fullmatch("[0-9a-f]{40}", model.hub_revision)


@pytest.mark.parametrize("model", GGUF_MODELS, ids=lambda model: model.name)
def test_a_file_on_the_hub_is_named_with_its_repository_or_not_at_all(model: GgufModel) -> None:
    assert (model.hub_repository is None) == (model.hub_file is None)


def test_no_two_files_are_the_same() -> None:
    assert len({model.sha256 for model in GGUF_MODELS}) == len(GGUF_MODELS)


def test_parts_are_numbered_from_one_at_a_pinned_version() -> None:
    parts = PackagedParts("model-part{}", "0.2.0", 3)

    assert parts.requirements == ("model-part1==0.2.0", "model-part2==0.2.0", "model-part3==0.2.0")


def test_a_single_part_needs_no_number() -> None:
    assert PackagedParts("whole-model", "1.0", 1).requirements == ("whole-model==1.0",)


@pytest.mark.parametrize("model", GGUF_MODELS, ids=lambda model: model.name)
def test_every_part_is_another_package(model: GgufModel) -> None:
    assert len(set(model.packages.requirements)) == model.packages.count


def test_the_default_follows_the_hardware() -> None:
    by_device: dict[str, Model] = {"cpu": default_model("cpu"), "gpu": default_model("gpu")}

    assert by_device == {"cpu": QWEN_1_5B, "gpu": LLAMA_3_1_8B}


def test_an_unknown_model_is_refused_with_those_that_exist() -> None:
    with pytest.raises(ModelUnavailable) as refused:
        find_model("gpt-2")

    assert str(refused.value).startswith("unknown model 'gpt-2'")
    assert all(name in str(refused.value) for name in CATALOGUE)
