"""What `evkg.open` gives: a release, and what is asked of several of its records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from evkg.compare import Comparison, compare
from evkg.release import Release, find_release


class OpenRelease(Release):
    """A release, read-only, with the questions that need more than one record."""

    def compare(self, ids: Sequence[str], *, ignore: Collection[str] = ()) -> Comparison:
        """Whether results may be compared: a table, or every reason against it; see `compare.compare`.

        Raises: UsageError: more than 20 ids, or an unknown condition to ignore.

        >>> open("build/current").compare(["gena-lm"]).reasons[0].text
        'Fewer than two results are given.'
        """
        return compare(self, ids, ignore=ignore)


def open(release: str | Path = "build/current") -> OpenRelease:  # noqa: A001 - `evkg.open` is the public name
    """The release at a path or of an id; see `find_release`.

    Raises: ReleaseError: there is none.

    >>> open("build/current").conforms
    True
    """
    return OpenRelease(find_release(release))
