"""An int8 linear kernel for x86 CPUs without VNNI, where vLLM's own falls back to a reference loop.

Measured on a two-core AVX2 machine, Qwen2.5-Coder-1.5B W8A8: 1.3 s a token with oneDNN's reference matmul, under
0.1 s with FBGEMM. CPUs with VNNI or AMX keep vLLM's kernel. See docs/decisions/0004-int8-without-vnni.md.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from vllm.model_executor.kernels.linear.scaled_mm.ScaledMMLinearKernel import (
    Int8ScaledMMLinearKernel,
    Int8ScaledMMLinearLayerConfig,
)
from vllm.model_executor.layers.quantization.utils import replace_parameter

FAST_INT8_FEATURES = ("avx512_vnni", "avx_vnni", "amx_int8")
"""Any of these gives oneDNN a real int8 kernel."""

_PACKERS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="pack")
"""Packing a layer keeps one core busy; the next is packed beside it. The first forward pass waits for the last."""

SMALLEST_SCALE = 1e-8
"""Keeps an all-zero token from dividing by zero."""


class FbgemmInt8LinearKernel(Int8ScaledMMLinearKernel):
    """W8A8 with a scale per output channel and a dynamic scale per token."""

    @classmethod
    def is_supported(cls, compute_capability: int | None = None) -> tuple[bool, str | None]:
        features = torch.cpu.get_capabilities()
        if any(features.get(name, False) for name in FAST_INT8_FEATURES):
            return False, "this CPU has a native int8 dot product; oneDNN is as fast."
        if not features.get("avx2", False) or "fbgemm" not in torch.backends.quantized.supported_engines:
            return False, "requires AVX2 and a torch built with FBGEMM."
        return True, None

    @classmethod
    def can_implement(cls, c: Int8ScaledMMLinearLayerConfig) -> tuple[bool, str | None]:
        if not c.is_channelwise or c.is_static_input_scheme or not c.input_symmetric:
            return False, "requires channel-wise weights and dynamic symmetric activations."
        return True, None

    def process_weights_after_loading(self, layer: torch.nn.Module) -> None:
        """Pack the int8 weight [out, in] once; the unpacked copy is released."""
        torch.backends.quantized.engine = "fbgemm"
        weight, weight_scale, *_ = self._get_layer_params(layer)
        self._packing = _PACKERS.submit(_pack, weight.data, weight_scale.data)
        empty = torch.nn.Parameter(torch.empty(0, dtype=torch.int8), requires_grad=False)
        replace_parameter(layer, self.layer_param_names[0], empty)

    def apply_weights(self, layer: torch.nn.Module, x: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        """x[..., in] -> [..., out], in x's own dtype."""
        tokens = x.reshape(-1, x.shape[-1]).float()
        # FBGEMM scales a whole batch at once. Bringing every token to [-1, 1] first makes that a scale per token, so
        # one token's outlier costs no other token its precision.
        token_scale = tokens.abs().amax(dim=1, keepdim=True).clamp_(min=SMALLEST_SCALE)
        # reduce_range: AVX2's multiply-add saturates at 16 bits with 8-bit activations.
        packed = self._packing.result()
        # A token that is not finite stays its own trouble: FBGEMM would refuse the whole batch, and with it the engine.
        scaled = torch.nan_to_num(tokens / token_scale, nan=0.0, posinf=0.0, neginf=0.0)
        out = torch.ops.quantized.linear_dynamic(scaled, packed, reduce_range=True)
        out *= token_scale
        if bias is not None:
            out += bias
        return out.to(x.dtype).reshape(*x.shape[:-1], out.shape[-1])


def _pack(weight: torch.Tensor, weight_scale: torch.Tensor) -> Any:
    """weight: int8[out, in]; weight_scale: [out, 1] -> FBGEMM's own layout of both."""
    zero_points = torch.zeros(weight.shape[0], dtype=torch.long)
    scales = weight_scale.flatten().double()
    quantised = torch._make_per_channel_quantized_tensor(weight, scales, zero_points, 0)
    return torch.ops.quantized.linear_prepack(quantised, None)


def register() -> None:
    """Put this kernel before vLLM's own for int8 on CPU; where it is not supported vLLM passes on to the next."""
    from vllm.model_executor.kernels.linear import _POSSIBLE_INT8_KERNELS
    from vllm.platforms import PlatformEnum

    kernels = _POSSIBLE_INT8_KERNELS[PlatformEnum.CPU]
    if FbgemmInt8LinearKernel not in kernels:
        kernels.insert(0, FbgemmInt8LinearKernel)
