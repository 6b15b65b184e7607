"""Why the process of a query ended before its answer did."""

from __future__ import annotations

import signal

from evkg.bytesize import size_text
from evkg.errors import QueryError, QueryLimitError
from evkg.limits import Limits


def stopped() -> QueryLimitError:
    """What is said to those who wait when the server is stopped."""
    return QueryLimitError("The server is being stopped.", "stop")


def reason_of(status: int, limits: Limits) -> QueryError:
    """The error of a query whose process ended with this status, negative for a signal.

    >>> reason_of(-9, Limits())
    QueryLimitError('The query was stopped with the process that ran it.')
    """
    if status == -signal.SIGABRT:  # what Rust does when it gets no memory
        return QueryLimitError(f"The query needs more memory than the limit of {size_text(limits.memory)}.", "memory")
    if status == -signal.SIGXCPU:
        message = f"The query used more than the limit of {limits.seconds:g} s of a processor and was stopped."
        return QueryLimitError(message, "time")
    if status == -signal.SIGSEGV:  # the engine's recursive parser ran out of stack
        return QueryError("The query is nested too deeply.")
    return QueryLimitError("The query was stopped with the process that ran it.", "process")
