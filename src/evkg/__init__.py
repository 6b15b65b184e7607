"""evkg: an evidence knowledge graph. Records of what papers report become a graph that can be trusted.

>>> import evkg
>>> release = evkg.open("build/current")
>>> release.record("gena-lm")["name"]
'GENA-LM'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evkg.errors import (
    EngineDisagreementError,
    EvkgError,
    InconsistencyError,
    NotFoundError,
    QueryError,
    QueryLimitError,
    QueryRefusedError,
    QuerySyntaxError,
    ReleaseError,
    UsageError,
    VocabularyError,
)
from evkg.finding import Finding

if TYPE_CHECKING:
    from evkg.answer import Rows
    from evkg.build import Built, build_release
    from evkg.check import Checked, check_dataset
    from evkg.opened import open  # noqa: A004 - `evkg.open` is the public name
    from evkg.release import Release

__all__ = [
    "Built",
    "Checked",
    "EngineDisagreementError",
    "EvkgError",
    "Finding",
    "InconsistencyError",
    "NotFoundError",
    "QueryError",
    "QueryLimitError",
    "QueryRefusedError",
    "QuerySyntaxError",
    "Release",
    "ReleaseError",
    "Rows",
    "UsageError",
    "VocabularyError",
    "build_release",
    "check_dataset",
    "open",
]

#: Public names that are imported only when they are used, so that `import evkg` is instant.
_LAZY = {
    "Built": "evkg.build",
    "build_release": "evkg.build",
    "Checked": "evkg.check",
    "check_dataset": "evkg.check",
    "Release": "evkg.release",
    "Rows": "evkg.answer",
    "open": "evkg.opened",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'evkg' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
