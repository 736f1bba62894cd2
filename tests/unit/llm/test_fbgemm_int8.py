"""The int8 kernel for CPUs without VNNI computes what the layer means."""

import math
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.model

OUT, IN = 64, 32
PARAMETERS = ("weight", "weight_scale", "input_scale", "input_zero_point", "azp_adj")
ACTIVATION_STEPS = 127
"""Over [-1, 1], since AVX2 leaves seven bits."""
RELATIVE_ERROR = 0.03
"""Of a token's output, as a norm; rounding to 127 steps gives about 0.01."""


class Linear:
    """int8[out, in] and scale[out, 1], packed by the kernel."""

    def __init__(self, kernel: Any, weight: Any, scale: Any) -> None:
        import torch

        self.layer = torch.nn.Module()
        self.layer.weight = torch.nn.Parameter(weight.clone(), requires_grad=False)
        self.layer.weight_scale = torch.nn.Parameter(scale.clone(), requires_grad=False)
        self._kernel = kernel
        kernel.process_weights_after_loading(self.layer)

    def __call__(self, x: Any, bias: Any = None) -> Any:
        return self._kernel.apply_weights(self.layer, x, bias)


def config(*, static: bool = False, channelwise: bool = True, symmetric: bool = True) -> Any:
    from vllm.model_executor.kernels.linear.scaled_mm.ScaledMMLinearKernel import Int8ScaledMMLinearLayerConfig

    return Int8ScaledMMLinearLayerConfig(
        is_static_input_scheme=static, is_channelwise=channelwise, input_symmetric=symmetric
    )


Build = Callable[[Any, Any], Linear]


@pytest.fixture(scope="module")
def build() -> Build:
    from app.llm.vllm_engine.fbgemm_int8 import FbgemmInt8LinearKernel

    supported, reason = FbgemmInt8LinearKernel.is_supported()
    if not supported:
        pytest.skip(f"the kernel is not for this machine: {reason}")
    return lambda weight, scale: Linear(FbgemmInt8LinearKernel(config(), PARAMETERS), weight, scale)


@pytest.fixture
def weights() -> tuple[Any, Any]:
    import torch

    generator = torch.Generator().manual_seed(1)
    weight = torch.randint(-127, 128, (OUT, IN), dtype=torch.int8, generator=generator)
    scale = torch.rand(OUT, 1, generator=generator) * 0.01 + 0.001
    return weight, scale


def tokens(count: int) -> Any:
    import torch

    return torch.randn(count, IN, generator=torch.Generator().manual_seed(2))


def relative_error(out: Any, expected: Any) -> Any:
    """By token."""
    return (out - expected).norm(dim=-1) / expected.norm(dim=-1)


def test_it_equals_the_float_product_within_the_rounding_of_activations(build: Build, weights: Any) -> None:
    weight, scale = weights
    real = weight.float() * scale
    x = tokens(8)

    out = build(weight, scale)(x)

    half_a_step = x.abs().amax(dim=1, keepdim=True) / ACTIVATION_STEPS
    assert ((out - x @ real.T).abs() <= 1.01 * half_a_step * real.abs().sum(dim=1)).all()
    assert (relative_error(out, x @ real.T) < RELATIVE_ERROR).all()


def test_the_largest_weights_and_activations_do_not_saturate(build: Build, weights: Any) -> None:
    import torch

    weight, scale = torch.full((OUT, IN), 127, dtype=torch.int8), weights[1]
    x = torch.ones(1, IN)

    out = build(weight, scale)(x)

    assert (relative_error(out, x @ (weight.float() * scale).T) < RELATIVE_ERROR).all()


@pytest.mark.parametrize("outlier", [1e3, -1e3, 1e6])
def test_an_outlier_in_one_token_costs_the_others_nothing(build: Build, weights: Any, outlier: float) -> None:
    weight, scale = weights
    layer = build(weight, scale)
    x = tokens(8)
    with_outlier = x.clone()
    with_outlier[0, 3] = outlier

    alone, together = layer(x), layer(with_outlier)

    assert (relative_error(together[1:], alone[1:]) < RELATIVE_ERROR).all()
    assert (relative_error(together[1:], x[1:] @ (weight.float() * scale).T) < RELATIVE_ERROR).all()


def test_a_token_of_zeros_gives_zeros_and_disturbs_nobody(build: Build, weights: Any) -> None:
    weight, scale = weights
    x = tokens(4)
    x[1] = 0.0

    out = build(weight, scale)(x)

    expected = x @ (weight.float() * scale).T
    assert (out[1] == 0).all()
    assert (relative_error(out[[0, 2, 3]], expected[[0, 2, 3]]) < RELATIVE_ERROR).all()


def test_the_bias_is_added_unscaled(build: Build, weights: Any) -> None:
    import torch

    layer = build(*weights)
    x, bias = tokens(4) * 100, torch.linspace(-1, 1, OUT)

    out, without = layer(x, bias), layer(x)

    assert torch.allclose(out - without, bias.expand(4, OUT), atol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_the_output_has_the_inputs_own_type(build: Build, weights: Any, dtype: str) -> None:
    import torch

    weight, scale = weights
    x = tokens(4).to(getattr(torch, dtype))

    out = build(weight, scale)(x)

    assert out.dtype == x.dtype
    assert (relative_error(out.float(), x.float() @ (weight.float() * scale).T) < RELATIVE_ERROR).all()


@pytest.mark.parametrize("leading", [(), (1,), (6,), (2, 3), (1, 2, 3)])
def test_leading_dimensions_are_kept(build: Build, weights: Any, leading: tuple[int, ...]) -> None:
    import torch

    layer = build(*weights)
    x = tokens(math.prod(leading)).reshape(*leading, IN)

    out = layer(x)

    assert out.shape == (*leading, OUT)
    assert torch.equal(out.reshape(-1, OUT), layer(x.reshape(-1, IN)))


def test_the_unpacked_weight_is_released(build: Build, weights: Any) -> None:
    assert build(*weights).layer.weight.numel() == 0


@pytest.mark.parametrize(
    ("differs", "taken"),
    [({}, True), ({"static": True}, False), ({"channelwise": False}, False), ({"symmetric": False}, False)],
)
def test_only_channelwise_weights_with_dynamic_symmetric_activations_are_taken(
    differs: dict[str, bool], taken: bool
) -> None:
    from app.llm.vllm_engine.fbgemm_int8 import FbgemmInt8LinearKernel

    assert FbgemmInt8LinearKernel.can_implement(config(**differs))[0] is taken


def test_registered_twice_it_stands_once_and_first() -> None:
    from vllm.model_executor.kernels.linear import _POSSIBLE_INT8_KERNELS
    from vllm.platforms import PlatformEnum

    from app.llm.vllm_engine.fbgemm_int8 import FbgemmInt8LinearKernel, register

    register()
    register()

    kernels = _POSSIBLE_INT8_KERNELS[PlatformEnum.CPU]
    assert kernels[0] is FbgemmInt8LinearKernel
    assert kernels.count(FbgemmInt8LinearKernel) == 1
