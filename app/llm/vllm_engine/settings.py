"""How vLLM is set up, per device, with the reason for every value that differs from its default."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.llm.hardware import Device

CPU_KV_CACHE_GIB = 2
"""74,000 tokens of Qwen2.5-1.5B in bfloat16, half of that in float32."""

MAX_CONTEXT_TOKENS = 8192
"""8,000 characters of English are 2,000 tokens; the instructions and the answer take under 2,000."""

CPU_BLOCK_TOKENS = 32
"""vLLM's CPU default of 128 leaves up to 127 tokens of the shared instructions out of the prefix cache."""


@dataclass(frozen=True)
class VllmSettings:
    weights: Path
    model: str
    device: Device
    run_dir: Path
    """For vLLM's sockets: a short path, since a socket's path is limited to 107 bytes."""
    max_running: int
    """Sequences decoded in one batch."""
    tuned: bool = True
    """False: vLLM's own choices on CPU, for comparison."""

    @property
    def prefill_seconds_per_token(self) -> float:
        """A generous bound for the progress watch: one step may read every waiting prompt whole.

        Two AVX2 cores take 0.014 s a token with the tuned settings, and over 0.07 s with emulated bfloat16.
        """
        if self.device == "gpu":
            return 0.0005
        return 0.05 if self.tuned else 1.0

    @property
    def max_queued(self) -> int:
        return 4 * self.max_running


def set_environment(settings: VllmSettings) -> None:
    """Must run before vllm is imported. What the user has set in the environment stays, but for the run folder.

    That one belongs to a single engine: a value from outside is the folder of another, which may be gone.
    """
    os.environ["VLLM_RPC_BASE_PATH"] = str(settings.run_dir)
    values = {
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",  # weights are local by now; nothing may be looked up at run time
        "VLLM_LOGGING_LEVEL": "ERROR",
        "PYTHONWARNINGS": "ignore",  # of vLLM's child processes, which share our terminal
        "VLLM_ENGINE_READY_TIMEOUT_S": "600",
    }
    if settings.device == "cpu":
        values |= {
            "VLLM_CPU_KVCACHE_SPACE": str(CPU_KV_CACHE_GIB),
            "VLLM_CPU_OMP_THREADS_BIND": "auto",
        }
        if settings.tuned:
            # vLLM keeps one core per worker free of OpenMP threads; on two cores that halves the speed.
            values["VLLM_CPU_NUM_OF_RESERVED_CPU"] = "0"
    for name, value in values.items():
        os.environ.setdefault(name, value)


def engine_arguments(settings: VllmSettings) -> dict[str, Any]:
    """Keyword arguments of vLLM's AsyncEngineArgs."""
    common: dict[str, Any] = {
        "model": str(settings.weights),
        "served_model_name": [settings.model],
        "max_num_seqs": settings.max_running,
        "max_num_queued_reqs": settings.max_queued,
        "enable_prefix_caching": True,
        # Pinned: with "auto" the first request chooses the backend, and only a pinned one obeys the whitespace setting.
        "structured_outputs_config": {"backend": "xgrammar", "disable_any_whitespace": True},
        "enable_log_requests": False,
        "disable_log_stats": False,  # the step statistics are also the engine's heartbeat
        "shutdown_timeout": 10,
        "use_tqdm_on_load": False,
    }
    if settings.device == "gpu":
        return common | {"dtype": "auto", "max_model_len": MAX_CONTEXT_TOKENS}
    safe = {
        "max_model_len": MAX_CONTEXT_TOKENS,
        "max_num_batched_tokens": MAX_CONTEXT_TOKENS,
        # A seeded request whose prompt is split kills the engine on CPU, so no prompt is ever split.
        "enable_chunked_prefill": False,
        "enforce_eager": True,
    }
    if not settings.tuned:
        return common | safe | {"dtype": "bfloat16", "structured_outputs_config": {"backend": "xgrammar"}}
    return common | safe | {"dtype": _cpu_dtype(), "block_size": CPU_BLOCK_TOKENS}


def _cpu_dtype() -> str:
    """bfloat16 where the CPU multiplies it; elsewhere it is emulated and float32 is twice as fast."""
    import torch

    features = torch.cpu.get_capabilities()
    return "bfloat16" if features.get("avx512_bf16") or features.get("amx_bf16") else "float32"
