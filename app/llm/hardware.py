"""What this machine can run. Standard library only: the Makefile asks before anything is installed."""

import shutil
import subprocess
from typing import Literal

Device = Literal["cpu", "gpu"]

MINIMUM_GPU_MEMORY_MIB = 20_000
"""Llama-3.1-8B in bfloat16 takes 16 GB; the rest is key-value cache."""


def detect_device() -> Device:
    """gpu if nvidia-smi lists a card with enough memory, else cpu."""
    if shutil.which("nvidia-smi") is None:
        return "cpu"
    query = ["nvidia-smi", "--query-gpu=memory.total", "--format=csv,noheader,nounits"]
    try:
        listed = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return "cpu"
    memory_mib = [int(line) for line in listed.split() if line.isdigit()]
    return "gpu" if memory_mib and max(memory_mib) >= MINIMUM_GPU_MEMORY_MIB else "cpu"


if __name__ == "__main__":
    print(detect_device())
