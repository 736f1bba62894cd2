"""Weights as int8: close to what they were, and known again at the next start."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.llm.convert import INT8_MAX, INT8_W8A8, RECIPE, _quantise, _without_output_layer, is_converted


@pytest.fixture
def linear_weights() -> dict[str, Any]:
    """float[out, in] by name, of a random model of two layers."""
    torch = pytest.importorskip("torch")
    from transformers import AutoModelForCausalLM, Qwen2Config

    torch.manual_seed(0)
    config = Qwen2Config(
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        vocab_size=300,
        tie_word_embeddings=False,
    )
    modules = AutoModelForCausalLM.from_config(config).named_modules()
    return {name: module.weight.detach() for name, module in modules if isinstance(module, torch.nn.Linear)}


@pytest.mark.model
def test_every_weight_is_within_half_a_step_of_what_it_was(linear_weights: dict[str, Any]) -> None:
    for name, weight in linear_weights.items():
        quantised, scale = _quantise(weight)

        error = (quantised.float() * scale.float() - weight).abs().amax(dim=1)
        step = weight.abs().amax(dim=1) / INT8_MAX
        # Half a step by rounding, a hundredth for a scale kept in bfloat16.
        assert (error <= 0.51 * step).all(), name


@pytest.mark.model
def test_a_scale_belongs_to_each_output_channel(linear_weights: dict[str, Any]) -> None:
    import torch

    assert len(linear_weights) == 2 * 7 + 1, "seven matrices a layer, and the output layer"
    for weight in linear_weights.values():
        quantised, scale = _quantise(weight)

        assert (quantised.shape, quantised.dtype) == (weight.shape, torch.int8)
        assert (scale.shape, scale.dtype) == ((weight.shape[0], 1), torch.bfloat16)


@pytest.mark.model
def test_the_most_negative_integer_is_never_used() -> None:
    import torch

    quantised, _ = _quantise(torch.linspace(-1.0, 0.5, 4096).reshape(1, -1))

    assert quantised.min() == -INT8_MAX


@pytest.mark.model
def test_a_large_channel_costs_a_small_one_nothing() -> None:
    import torch

    small = torch.tensor([[0.001, -0.002, 0.003]])
    alone, _ = _quantise(small)

    together, _ = _quantise(torch.cat([small, small * 1e6]))

    assert torch.equal(together[:1], alone)


@pytest.mark.model
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_channel_of_zeros_stays_zero(dtype: str) -> None:
    import torch

    quantised, scale = _quantise(torch.zeros(2, 8, dtype=getattr(torch, dtype)))

    assert (quantised == 0).all()
    assert (scale > 0).all() and scale.isfinite().all()


def test_a_tied_output_layer_is_left_out_of_quantisation() -> None:
    before = json.dumps(INT8_W8A8)

    tied = _without_output_layer(INT8_W8A8)

    assert tied["config_groups"]["group_0"]["targets"] == ["Linear"] and tied["ignore"] == ["lm_head"]
    assert json.dumps(INT8_W8A8) == before


def test_weights_of_this_recipe_are_converted(tmp_path: Path) -> None:
    (tmp_path / "recipe.json").write_text(json.dumps({"recipe": RECIPE, "source": "a.gguf", "precision": "int8"}))

    assert is_converted(tmp_path)


def test_a_folder_that_does_not_exist_is_not_converted(tmp_path: Path) -> None:
    assert not is_converted(tmp_path / "missing")


@pytest.mark.parametrize(
    "recipe",
    [
        json.dumps({"recipe": RECIPE + 1}).encode(),
        json.dumps({"precision": "int8"}).encode(),
        b"",
        b'{"recipe": ',
        b"\xff\xfe\x00",
        b"[]",
        b"null",
    ],
)
def test_weights_of_another_recipe_or_of_none_are_made_anew(tmp_path: Path, recipe: bytes) -> None:
    (tmp_path / "recipe.json").write_bytes(recipe)

    assert not is_converted(tmp_path)
