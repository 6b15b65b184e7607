"""One process that draws charts; `chart_renderer.ChartRenderer` starts and kills it.

Vega runs in a JavaScript engine that holds the interpreter while it draws (measured, vl-convert 1.9.0: 0.4 s for the
first chart, 40 ms for each after it, 90 MB), so it must not run where requests are answered.

Both ways a message is its length (32 bits) and so many bytes: a specification in JSON, and its SVG; nothing where there
is none.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from typing import BinaryIO, Final

LENGTH: Final = struct.Struct("!I")


def draw(spec: str) -> str:
    """The SVG of a Vega specification in JSON; empty where it cannot be drawn."""
    import vl_convert

    try:
        return str(vl_convert.vega_to_svg(json.loads(spec), allowed_base_urls=[]))
    except ValueError:
        return ""


def _read(stream: BinaryIO) -> bytes | None:
    """The next message; None at the end."""
    head = stream.read(LENGTH.size)
    return stream.read(LENGTH.unpack(head)[0]) if len(head) == LENGTH.size else None


def main() -> int:
    """Draw what comes in over standard input until it closes."""
    from evkg.worker_process import cut_network

    cut_network()
    stream = sys.stdin.buffer
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # From here on whoever speaks is the engine.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    os.dup2(sys.stdout.fileno(), sys.stderr.fileno())
    while (spec := _read(stream)) is not None:
        svg = draw(spec.decode()).encode()
        out.write(LENGTH.pack(len(svg)) + svg)
        out.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
