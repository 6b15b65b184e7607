"""The access log: a line of JSON for each request, without the text of queries unless it is asked for."""

from __future__ import annotations

import hashlib
import json
import logging
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, Final

from evkg.errors import UsageError, excerpt

#: The longest text of a query in the log (characters).
_MOST_QUERY: Final = 10_000


class AccessLog:
    """A log in a file, or on standard error for `-`. A file that was moved away is opened anew.

    Raises: UsageError: the file cannot be written.
    """

    def __init__(self, file: Path, *, with_queries: bool = False) -> None:
        self._with_queries = with_queries
        try:
            is_file = str(file) != "-"
            self._handler = WatchedFileHandler(file, encoding="utf-8") if is_file else logging.StreamHandler(sys.stderr)
        except OSError as error:
            raise UsageError(f"The access log {file} cannot be written: {error.strerror or error}.") from error

    def write(self, entry: Mapping[str, Any], query: str | None = None) -> None:
        """Write a line: the time, the entry, and of a query a short hash by which to know it again."""
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), **entry}
        if query is not None:
            line["query_sha256"] = hashlib.sha256(query.encode(errors="surrogatepass")).hexdigest()[:12]
            if self._with_queries:
                line["query"] = excerpt(query, _MOST_QUERY)
        text = json.dumps(line, ensure_ascii=True)
        self._handler.emit(logging.LogRecord("access", logging.INFO, "", 0, text, None, None))

    def close(self) -> None:
        """Close the file."""
        if isinstance(self._handler, WatchedFileHandler):
            self._handler.close()
