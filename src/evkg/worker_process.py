"""One process that answers queries on a store, under limits; `worker.QueryWorkers` starts and kills it.

Oxigraph can neither be timed out nor cancelled, and aborts when it finds no memory (measured with
pyoxigraph 0.5.13): so queries run where they can be killed without harm to anybody else.

Both ways a message is: length of a JSON header and of a body (two 32-bit numbers), the header, the body.
"""

from __future__ import annotations

import ctypes
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
from evkg.serialization import write_answer
from evkg.sparql import read_query
from evkg.store import UnwritableError, is_graph, open_store, run_query

PREFIX: Final = struct.Struct("!II")

#: Source: <sched.h> of Linux.
_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWNET: Final = 0x40000000


def cut_network() -> bool:
    """Move this process into an empty network namespace; whether the system lets it.

    The second line behind the refusal of SERVICE. It must come before any thread is started.
    """
    libc = ctypes.CDLL(None)
    return any(libc.unshare(flags) == 0 for flags in (_CLONE_NEWNET, _CLONE_NEWUSER | _CLONE_NEWNET))


def answer(store: ox.Store, request: dict[str, Any], result_bytes: int) -> tuple[dict[str, Any], bytes]:
    """The header and body of the answer to a request.

    The request names a format for tables and one for graphs; the form of the query decides which holds.
    If that one is null, nothing is evaluated, and the format of the answer is null too.
    """
    try:
        query = read_query(request["query"])
        format_name = request["graph_format" if is_graph(query) else "table_format"]
        if format_name is None:
            return {"form": query.form, "format": None}, b""
        query, result = run_query(
            store,
            query.text,
            default_graphs=tuple(request["default_graphs"]),
            named_graphs=tuple(request["named_graphs"]),
            is_union=request["is_union"],
            base_iri=request["base_iri"],
            in_order=True,
        )
        body = write_answer(query, result, format_name)
        if len(body) > result_bytes:
            raise QueryLimitError(f"The answer is larger than the limit of {size_text(result_bytes)}. Use LIMIT.")
        return {"form": query.form, "format": format_name}, body
    except QuerySyntaxError as error:
        place = {"line": error.line, "column": error.column, "token": error.token, "prefix": error.prefix}
        return {"error": "syntax", "message": str(error), "place": place}, b""
    except QueryRefusedError as error:
        return {"error": "refused", "message": str(error)}, b""
    except QueryLimitError as error:
        return {"error": "limit", "message": str(error)}, b""
    except UnwritableError as error:
        return {"error": "unwritable", "message": str(error)}, b""
    except QueryError as error:
        return {"error": "other", "message": str(error)}, b""
    except MemoryError:
        return {"error": "limit", "message": "The query needs more memory than it may have."}, b""


def read_error(header: dict[str, Any]) -> QueryError:
    """The error in the header of an answer, as it was raised where the query ran.

    >>> read_error({"error": "refused", "message": "no"})
    QueryRefusedError('no')
    """
    message = header["message"]
    if header["error"] == "syntax":
        return QuerySyntaxError(message, **header["place"])
    kinds = {"refused": QueryRefusedError, "limit": QueryLimitError, "unwritable": UnwritableError}
    return kinds.get(header["error"], QueryError)(message)


def size_text(size: int) -> str:
    """A number of bytes for people.

    >>> size_text(2 << 30), size_text(64 << 20), size_text(100)
    ('2 GiB', '64 MiB', '100 bytes')
    """
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """A message as it goes over the wire."""
    text = json.dumps(header).encode()
    return PREFIX.pack(len(text), len(body)) + text + body


def _read(stream: BinaryIO) -> dict[str, Any] | None:
    """The header of the next message; None at the end."""
    prefix = stream.read(PREFIX.size)
    if len(prefix) < PREFIX.size:
        return None
    text = stream.read(PREFIX.unpack(prefix)[0])
    message: dict[str, Any] = json.loads(text)
    return message


def main(arguments: Sequence[str]) -> int:
    """Answer requests from a socket until it closes: store, descriptor, parent, memory and result in bytes."""
    folder = Path(arguments[0])
    descriptor, parent, memory, result_bytes = map(int, arguments[1:])
    cut_network()
    end_with_parent(parent)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with socket.socket(fileno=descriptor) as connection, connection.makefile("rb") as stream:
        try:
            store = open_store(folder)
        except EvkgError as error:
            connection.sendall(pack({"error": "other", "message": str(error)}))
            return 1
        # From here on whoever speaks is the engine, about to abort with a long trace.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
        connection.sendall(pack({"ready": True}))
        while (request := _read(stream)) is not None:
            connection.sendall(pack(*answer(store, request, result_bytes)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
