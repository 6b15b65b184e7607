"""The index of a search while a server runs: found beside the release, or made by a process of its own."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

from evkg.errors import ReleaseError
from evkg.problem import RequestError
from evkg.release import Release
from evkg.search_build import INDEX, has_full_text, index_key
from evkg.search_index import SearchIndex

#: After how many seconds a client may ask again while the index is being made.
RETRY_SECONDS: Final = 3
#: How often an index is tried to be made (count), and the pause before the next time (seconds).
TRIES: Final = 3
PAUSE_SECONDS: Final = 2.0
#: When all of these failed: how long until somebody who searches begins it again (seconds).
AGAIN_SECONDS: Final = 300.0
_log = logging.getLogger(__name__)


class SearchService:
    """Gives the index of a release. It is made once, beside the server's own work, which never waits for it.

    It is kept in the folder of the release where that can be written, otherwise in a temporary folder.
    """

    def __init__(self, release: Release) -> None:
        self._release = release
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._process: subprocess.Popen[str] | None = None
        self._folder: Path | None = None  # a temporary one
        self._index: SearchIndex | None = None
        self._is_stopped = False
        self._stopped = threading.Event()
        self._failed_at: float | None = None
        #: Why there is no index; in words for those who ask.
        self.trouble: str | None = None

    def start(self) -> None:
        """Begin to find or make the index; at once back, and nothing if it has begun."""
        with self._lock:
            if (self._thread is None or self._may_try_again()) and not self._is_stopped:
                self.trouble = self._failed_at = None
                self._thread = threading.Thread(target=self._run, name="search index", daemon=True)
                self._thread.start()

    def _may_try_again(self) -> bool:
        """Whether it failed so long ago that what was short may be there again, such as room on the disk."""
        failed_at = self._failed_at
        return failed_at is not None and time.monotonic() - failed_at > AGAIN_SECONDS and has_full_text()

    def stop(self) -> None:
        """End what still runs, and remove what is not to be kept."""
        with self._lock:
            self._is_stopped = True
            self._stopped.set()
            process, thread = self._process, self._thread
        if process is not None:
            with contextlib.suppress(OSError):
                process.kill()
        if thread is not None:
            thread.join()
        index, self._index = self._index, None
        if index is not None:
            index.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def ready(self) -> SearchIndex | None:
        """The index, if it is there already; asking for it begins to make it."""
        self.start()
        return self._index

    @property
    def is_being_made(self) -> bool:
        """Whether the index may come yet; asking begins to make it."""
        return self.ready is None and self._thread is not None and self._thread.is_alive()

    def get(self) -> SearchIndex:
        """The index.

        Raises: RequestError: 503, it is still being made (with Retry-After), or cannot be made.
        """
        index = self.ready
        if index is not None:
            return index
        if self.trouble is not None:
            raise RequestError(503, self.trouble)
        raise _being_made()

    def _mend(self, index: SearchIndex) -> None:
        """Make the index again, since the file of this one is damaged. Raises: RequestError: as `get`."""
        with self._lock:
            if self._index is index and not self._is_stopped:
                _log.warning("The index of the search is damaged and is made again.")
                self._index = None
                self._thread = threading.Thread(target=self._run, args=(True,), name="search index", daemon=True)
                self._thread.start()
        raise _being_made()

    def _run(self, is_damaged: bool = False) -> None:
        try:
            self._index = self._find_or_make(is_damaged)
        except (ReleaseError, OSError) as error:
            if not self._is_stopped:
                _log.error("There is no search: %s", error)
                self._failed_at = time.monotonic()
                self.trouble = self.trouble or "The index of the search could not be made, so nothing can be searched."

    def _find_or_make(self, is_damaged: bool) -> SearchIndex:
        if not has_full_text():
            self.trouble = "This server cannot search: the SQLite of its Python has no full-text search (FTS5)."
            raise ReleaseError(self.trouble)
        file, key = self._release.folder / INDEX, index_key(self._release)
        if is_damaged:
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)
        elif file.is_file():
            with contextlib.suppress(ReleaseError):
                index = SearchIndex(file, self._mend)
                if index.key == key:
                    return index
                index.close()
        if not os.access(self._release.folder, os.W_OK):
            self._folder = self._folder or Path(tempfile.mkdtemp(prefix="evkg-search-"))
            file = self._folder / INDEX
        for left in range(TRIES - 1, -1, -1):
            try:
                self._make(file)
                break
            except (ReleaseError, OSError) as error:
                if not left or self._is_stopped:
                    raise
                _log.warning("The index of the search is tried again, since it could not be made: %s", error)
                self._stopped.wait(PAUSE_SECONDS)
        return SearchIndex(file, self._mend)

    def _make(self, file: Path) -> None:
        # -P: nothing is imported from the folder in which the server happens to run.
        command = [sys.executable, "-P", "-m", "evkg.search_build", str(self._release.folder), str(file)]
        with self._lock:
            if self._is_stopped:
                raise ReleaseError("The server is being stopped.")
            pipe = subprocess.PIPE
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=pipe, text=True
            )
            self._process = process
        try:
            _, said = process.communicate()
        finally:
            file.with_name(f"{file.name}.{process.pid}.part").unlink(missing_ok=True)  # of one that was killed
        if process.returncode != 0:
            raise ReleaseError(said.strip() or f"its process ended with status {process.returncode}")


def _being_made() -> RequestError:
    message = "The index of the search is being made; everything else is there. Try again in a moment."
    return RequestError(503, message, {"Retry-After": str(RETRY_SECONDS)})
