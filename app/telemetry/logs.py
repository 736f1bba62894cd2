"""The service's log: `noun.verb` events with fields; JSON lines, or plain lines for a person at a terminal."""

import logging
import sys
from typing import Any

from pythonjsonlogger.core import RESERVED_ATTRS
from pythonjsonlogger.json import JsonFormatter

_NOT_OURS = {"vllm_process_name"}
"""Put on every record of this process by vLLM."""

_STANDARD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"} | _NOT_OURS


class _PlainFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {k: v for k, v in record.__dict__.items() if k not in _STANDARD and v is not None}
        line = super().format(record)
        return f"{line} {' '.join(f'{k}={v}' for k, v in fields.items())}".rstrip()


def set_up_logs(level: str) -> None:
    handler = logging.StreamHandler(sys.stderr)
    if sys.stderr.isatty():
        handler.setFormatter(_PlainFormatter("%(asctime)s %(levelname).1s %(message)s", "%H:%M:%S"))
    else:
        handler.setFormatter(
            JsonFormatter(
                "{asctime}{levelname}{name}{message}", style="{", reserved_attrs=[*RESERVED_ATTRS, *_NOT_OURS]
            )
        )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("app").setLevel(level.upper())
    # Warns at every start of what is no fault here: that there is no compiler for CPUs.
    logging.getLogger("vllm").setLevel(logging.ERROR)
