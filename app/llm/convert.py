"""Turn a GGUF file into weights that vLLM serves: int8 for CPUs, bfloat16 for comparison."""

import json
import shutil
from pathlib import Path
from typing import Any

from app.errors import ModelUnavailable
from app.llm.models import Precision

RECIPE = 1
"""Raise when the conversion changes: converted weights of another recipe are made anew."""

INT8_MAX = 127
SMALLEST_SCALE = 1e-8

INT8_W8A8: dict[str, Any] = {
    "quant_method": "compressed-tensors",
    "format": "int-quantized",
    "quantization_status": "compressed",
    "ignore": [],
    "config_groups": {
        "group_0": {
            "targets": ["Linear", "lm_head"],
            "weights": {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel", "dynamic": False},
            "input_activations": {
                "num_bits": 8, "type": "int", "symmetric": True, "strategy": "token", "dynamic": True,
            },
        }
    },
}  # fmt: skip
"""A scale per output channel of the weights and per token of the activations. The output layer is included: at 152k
entries it is a seventh of the bytes read for every token."""


def convert_gguf(gguf: Path, target: Path, precision: Precision) -> None:
    """Write safetensors, config and tokenizer to `target`; it appears only when complete. Raises ModelUnavailable."""
    unfinished = target.with_name(target.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        _convert_tokenizer(gguf, unfinished)
        _convert_weights(gguf, unfinished, precision)
    except (OSError, ValueError, RuntimeError) as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise ModelUnavailable(
            f"converting {gguf.name} failed: {error}; is the file whole and the disk not full? then start again"
        ) from error
    (unfinished / "recipe.json").write_text(json.dumps({"recipe": RECIPE, "source": gguf.name, "precision": precision}))
    shutil.rmtree(target, ignore_errors=True)
    unfinished.replace(target)


def is_converted(target: Path) -> bool:
    try:
        return bool(json.loads((target / "recipe.json").read_text())["recipe"] == RECIPE)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _convert_tokenizer(gguf: Path, target: Path) -> None:
    from transformers import AutoTokenizer

    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(target)
    # GGUF fills the vocabulary up to the embedding's size with tokens that stand for nothing. A grammar would take
    # their names for text, so they go; the rows of the embedding stay.
    path = target / "tokenizer.json"
    tokenizer = json.loads(path.read_text("utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    tokenizer["model"]["vocab"] = {text: n for text, n in vocabulary.items() if text != f"[PAD{n}]"}
    path.write_text(json.dumps(tokenizer, ensure_ascii=False), "utf-8")


def _convert_weights(gguf: Path, target: Path, precision: Precision) -> None:
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, GgufConfig

    model = AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16, quantization_config=GgufConfig(dequantize=True)
    )
    linear = {f"{name}.weight" for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}
    tied = model.config.tie_word_embeddings
    tensors: dict[str, Any] = {}
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and tied:
            continue
        if precision == "int8" and name in linear:
            tensors[name], tensors[f"{name}_scale"] = _quantise(tensor)
        else:
            tensors[name] = tensor.to(torch.bfloat16).contiguous()
    save_file(tensors, target / "model.safetensors", metadata={"format": "pt"})
    config = model.config.to_dict()
    config.pop("quantization_config", None)
    config["architectures"] = [type(model).__name__]
    if precision == "int8":
        config["quantization_config"] = INT8_W8A8 if not tied else _without_output_layer(INT8_W8A8)
    (target / "config.json").write_text(json.dumps(config, indent=2, default=str))
    model.generation_config.save_pretrained(target)


def _quantise(weight: Any) -> tuple[Any, Any]:
    """weight[out, in] -> int8[out, in], bfloat16 scale[out, 1]: symmetric, rounded to nearest."""
    import torch

    weight = weight.float()
    scale = (weight.abs().amax(dim=1, keepdim=True) / INT8_MAX).clamp(min=SMALLEST_SCALE).to(torch.bfloat16)
    quantised = (weight / scale.float()).round().clamp(-INT8_MAX, INT8_MAX).to(torch.int8)
    return quantised, scale


def _without_output_layer(config: dict[str, Any]) -> dict[str, Any]:
    """Where the output layer is the embedding itself it stays as it is."""
    copy: dict[str, Any] = json.loads(json.dumps(config))
    copy["config_groups"]["group_0"]["targets"] = ["Linear"]
    copy["ignore"] = ["lm_head"]
    return copy
