"""One process that answers queries on a store, under limits; `worker.QueryWorkers` starts and kills it.

Oxigraph can neither be timed out nor cancelled, and aborts when it finds no memory (measured with
pyoxigraph 0.5.13): so queries run where they can be killed without harm to anybody else.

Both ways a message is: length of a JSON header and of a body (two 32-bit numbers), the header, the body. The answer to
a request is one message or several; every one but the last has `"more": true` in its header.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import socket
import struct
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyoxigraph as ox

from evkg.errors import EvkgError, QueryError, QueryLimitError, QueryRefusedError, QuerySyntaxError
from evkg.parent import end_with_parent
from evkg.rowstream import Outlet, stream_answer
from evkg.sparql import read_query
from evkg.store import UnwritableError, is_graph, open_store, run_query

PREFIX: Final = struct.Struct("!II")
#: How many objects with contents are made before garbage is looked for; an answer leaves hardly any.
_GARBAGE: Final = 20_000

#: Source: <sched.h> of Linux.
_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWNET: Final = 0x40000000


def cut_network() -> bool:
    """Move this process into an empty network namespace; whether the system lets it.

    The second line behind the refusal of SERVICE. It must come before any thread is started.
    """
    libc = ctypes.CDLL(None)
    return any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


class Answering:
    """Answers requests on a store, one after the other, over a connection; rows and bytes are limits of each."""

    def __init__(self, store: ox.Store, connection: socket.socket, *, rows: int, result_bytes: int) -> None:
        self._store = store
        self._connection = connection
        self._limits = {"most_rows": rows, "most_bytes": result_bytes}

    def answer(self, request: dict[str, Any]) -> None:
        """Send the answer to a request.

        The request names a format for tables and one for graphs; the form of the query decides which holds.
        If that one is null, nothing is evaluated, and the format of the answer is null too.
        """
        try:
            query = read_query(request["query"])
            format_name = request["graph_format" if is_graph(query) else "table_format"]
            header = {"form": query.form, "format": format_name}
            if format_name is None:
                self._connection.sendall(pack(header))
                return
            query, result = run_query(
                self._store,
                query.text,
                default_graphs=tuple(request["default_graphs"]),
                named_graphs=tuple(request["named_graphs"]),
                is_union=request["is_union"],
                base_iri=request["base_iri"],
                in_order=True,
            )

            def send(piece: bytes, is_last: bool) -> None:
                more = {} if is_last else {"more": True}
                self._connection.sendall(pack({**header, **more}, piece))

            outlet = Outlet(send, format_name=format_name, **self._limits)
            stream_answer(query, result, format_name, outlet)
        except (QueryError, MemoryError) as error:
            self._connection.sendall(pack(write_error(error)))


def write_error(error: QueryError | MemoryError) -> dict[str, Any]:
    """The header that carries an error; `read_error` reads it."""
    message = str(error)
    if isinstance(error, MemoryError):
        return {"error": "limit", "message": "The query needs more memory than it may have.", "limit": "memory"}
    if isinstance(error, QuerySyntaxError):
        place = {"line": error.line, "column": error.column, "token": error.token, "prefix": error.prefix}
        return {"error": "syntax", "message": message, "place": place}
    if isinstance(error, QueryLimitError):
        return {"error": "limit", "message": message, "limit": error.limit}
    names = {QueryRefusedError: "refused", UnwritableError: "unwritable"}
    return {"error": names.get(type(error), "other"), "message": message}


def read_error(header: dict[str, Any]) -> QueryError:
    """The error in the header of an answer, as it was raised where the query ran.

    >>> read_error({"error": "refused", "message": "no"})
    QueryRefusedError('no')
    """
    message = header["message"]
    if header["error"] == "syntax":
        return QuerySyntaxError(message, **header["place"])
    if header["error"] == "limit":
        return QueryLimitError(message, header["limit"])
    return {"refused": QueryRefusedError, "unwritable": UnwritableError}.get(header["error"], QueryError)(message)


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """A message as it goes over the wire."""
    text = json.dumps(header).encode()
    return b"".join((PREFIX.pack(len(text), len(body)), text, body))


def _read(stream: BinaryIO) -> dict[str, Any] | None:
    """The header of the next message; None at the end."""
    prefix = stream.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    text = stream.read(PREFIX.unpack(prefix)[0])
    message: dict[str, Any] = json.loads(text)
    return message


def _allow_processor(seconds: int) -> None:
    """Let the kernel end this process (SIGXCPU) when it has used so much more time of a processor."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    at = int(used.ru_utime + used.ru_stime) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (at, resource.RLIM_INFINITY))


def main(arguments: Sequence[str]) -> int:
    """Fork a worker whenever the near end of the nursery asks for one; until then nothing has a thread here.

    Arguments: store, descriptor, parent, seconds of processor time, memory and result in bytes, rows.
    """
    folder = Path(arguments[0])
    descriptor, parent, *numbers = map(int, arguments[1:])
    cut_network()
    end_with_parent(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with socket.socket(fileno=descriptor) as control:
        # From here on whoever speaks is the engine, about to abort with a long trace.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        control.sendall(json.dumps({"ready": True}).encode())
        me = os.getpid()
        gc.freeze()  # what is there stays, so the pages that workers share are not looked through and copied
        gc.set_threshold(_GARBAGE, 10, 10)
        while True:
            data, descriptors, _, _ = socket.recv_fds(control, 64, 1)
            if not data:
                return 0
            if data == b"fork":
                try:
                    pid = os.fork()
                except OSError as error:
                    control.sendall(json.dumps({"error": "other", "message": str(error.strerror)}).encode())
                    continue
                if pid == 0:
                    control.close()
                    end_with_parent(me)
                    work(folder, descriptors[0], *numbers)
                    os._exit(0)
                os.close(descriptors[0])
                control.sendall(json.dumps({"pid": pid}).encode())
            else:
                _, status = os.waitpid(int(data.split()[1]), 0)
                control.sendall(json.dumps({"status": os.waitstatus_to_exitcode(status)}).encode())


def work(folder: Path, descriptor: int, seconds: int, memory: int, result_bytes: int, rows: int) -> None:
    """Answer requests from a socket until it closes."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with socket.socket(fileno=descriptor) as connection, connection.makefile("rb") as stream:
        try:
            store = open_store(folder)
        except EvkgError as error:
            connection.sendall(pack({"error": "other", "message": str(error)}))
            return
        connection.sendall(pack({"ready": True}))
        answering = Answering(store, connection, rows=rows, result_bytes=result_bytes)
        while (request := _read(stream)) is not None:
            _allow_processor(seconds)
            answering.answer(request)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
