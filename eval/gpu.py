"""Memory in use on this machine's NVIDIA GPUs, for a service that runs here too."""

from collections.abc import Callable


def memory_reader() -> Callable[[], int] | None:
    """Reads MiB in use over all GPUs; None without the driver, its library or a GPU."""
    try:
        import pynvml

        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(n) for n in range(pynvml.nvmlDeviceGetCount())]
    except Exception:  # noqa: BLE001 - nvidia-ml-py raises its own tree, and ImportError where it is not installed
        return None
    if not handles:
        return None
    return lambda: sum(int(pynvml.nvmlDeviceGetMemoryInfo(handle).used) for handle in handles) // 2**20
