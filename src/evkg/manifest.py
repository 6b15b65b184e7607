"""The manifest of a release: what is in it, and the check that it is one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

from evkg.errors import ReleaseError

#: The file of a release that says what the others are.
MANIFEST: Final = "manifest.json"
#: The format of the manifest that this code reads, and the keys that every manifest has.
FORMAT: Final = 1
_NEEDED: Final = {"release_id": str, "base_iri": str, "dataset": dict, "conforms": bool, "counts": dict, "files": dict}
_COUNTS: Final = ("records", "quads", "violations", "warnings", "infos")
_BASE: Final = re.compile(r"https?://[^\s<>\"{}|^`\\?#\x00-\x20]+/")


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a release folder.

    Raises: ReleaseError: it is missing, broken, or of another format.
    """
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise ReleaseError(f"{folder} has format {manifest['format']}; this evkg reads {FORMAT}.")
        if wrong := _wrong(manifest):
            raise ReleaseError(f"{folder / MANIFEST} is damaged: {', '.join(wrong)} is missing or cannot be right.")
        return cast("dict[str, Any]", manifest)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReleaseError(f"{folder / MANIFEST} cannot be read: {error}") from error


def _wrong(manifest: Mapping[str, Any]) -> list[str]:
    """The facts of a manifest that no build writes so."""
    wrong = [key for key, kind in _NEEDED.items() if type(manifest.get(key)) is not kind]
    if "base_iri" not in wrong and not _BASE.fullmatch(manifest["base_iri"]):
        wrong.append("base_iri")
    if "counts" not in wrong:
        counts = manifest["counts"]
        wrong += [f"counts.{key}" for key in _COUNTS if type(counts.get(key)) is not int or counts[key] < 0]
        if not isinstance(counts.get("kinds"), dict):
            wrong.append("counts.kinds")
    return wrong
