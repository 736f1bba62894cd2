"""The service with a vLLM whose processes sleep as soon as they have nothing to do, so that their CPU time is work.

As shipped, a worker goes on polling for a second after its last message, on a whole core, which no measurement of CPU
time tells from a step. Waking up costs a step a little more here, never less.
"""

import sys

if __name__ == "__mp_main__":  # one of vLLM's own processes
    from vllm.distributed.device_communicators.shm_broadcast import SpinCondition

    SpinCondition.__init__.__defaults__ = (0.0,)

if __name__ == "__main__":
    from app.__main__ import main

    sys.exit(main())
