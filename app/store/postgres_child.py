"""Becomes a program that dies with its parent: python -I -S postgres_child.py PARENT_PID UID GID PROGRAM [ARGUMENT ...]

Standard library only, and run as a file: the parent has threads, so code between its fork and exec would not be safe.
Linux ties PR_SET_PDEATHSIG to the thread that forked, and forgets it when the user changes: hence the order below.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent_pid: int, uid: int, gid: int, program: str, *arguments: str) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    os.umask(0o077)
    os.chdir("/")
    if os.geteuid() != uid:
        os.setgroups([gid])
        os.setgid(gid)
        os.setuid(uid)
    if libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGINT), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() != parent_pid:
        sys.exit("the parent died before the child began")
    os.execv(program, [program, *arguments])  # noqa: S606 - its own arguments, no shell wanted


if __name__ == "__main__":
    try:
        parent_pid, uid, gid = map(int, sys.argv[1:4])
        main(parent_pid, uid, gid, *sys.argv[4:])
    except OSError as error:
        sys.exit(f"postgres_child: FATAL: {error}")
