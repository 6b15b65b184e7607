"""Processes that must not outlive the one that started them."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Final

#: Source: <sys/prctl.h> of Linux.
_PR_SET_PDEATHSIG: Final = 1


def end_with_parent(parent: int) -> None:
    """Let the kernel kill this process when its parent (its process id) is gone, whatever it is doing then.

    A new user namespace clears this, so it comes after one is made.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it went before the kernel was asked
        os.kill(os.getpid(), signal.SIGKILL)
