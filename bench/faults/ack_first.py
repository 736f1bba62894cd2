"""The service as it must not be: it answers first and writes 50 ms later. The control of bench.kill_ledger."""

import asyncio
import sys

from app.store import call_log
from app.store.records import CheckRecord

LATE_SECONDS = 0.05


class AcknowledgesFirst(call_log.SpooledCallLog):
    async def write(self, record: CheckRecord) -> None:
        write = super().write

        async def later() -> None:
            await asyncio.sleep(LATE_SECONDS)
            await write(record)

        task = asyncio.create_task(later())
        self._writes.add(task)


if __name__ == "__main__":
    from app import build
    from app.__main__ import main

    build.SpooledCallLog = AcknowledgesFirst  # type: ignore[misc]
    sys.exit(main())
