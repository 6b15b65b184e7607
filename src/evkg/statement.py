"""What one record states, field by field, and how far each statement is backed: the rows of evidence before claims.

Source: contract section 12.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from evkg.jsontext import Json, encode_json
from evkg.record import Record
from evkg.setting import split_path, step
from evkg.withheld import is_withheld

#: What a row may be: a statement that names its own place in a source, the context that a record's sources give, what
#: a record of a source says of that source, and what the catalogue says of its own work.
INDIVIDUAL: Final = "individual_claim"
CONTEXT: Final = "record_context"
SOURCE: Final = "source_metadata"
CATALOGUE: Final = "catalogue_metadata"
SCOPES: Final = (INDIVIDUAL, CONTEXT, SOURCE, CATALOGUE)

NOT_REVIEWED: Final = "not_individually_reviewed"
CHECKED: Final = "source_checked"
#: The field of a result that is a statement of its own without any claim.
PRINTED: Final = "attributes.printed_value"

_ENVELOPE: Final = ("id", "kind", "name", "description", "status", "facets", "source_ids")
_ADMINISTRATIVE: Final = re.compile(
    r"(id|kind|status|facets|source_ids|attributes\.(missing_metadata|review|scope_decision|entity_classification"
    r"|metadata_review_scope|legacy_[^.]*|historical_[^.]*))(\.|\Z)"
)
#: Upper case does not count: `Not applicable: …` is what a source says, not a key that stands for nothing.
_UNSPECIFIED: Final = re.compile(
    r"(unknown|unreported|unextracted|unavailable|not[ _](reported|applicable|yet_extracted).*)?", re.DOTALL
)
_COMMANDS_NOTE: Final = "The instructions were checked; the commands were not run, and nothing was reproduced."


@dataclass(frozen=True, slots=True)
class Statement:
    """One field of a record with its value, and the sources, place and review that stand behind it."""

    path: str
    value: Json
    label: str
    scope: str
    status: str
    source_ids: tuple[str, ...] = ()
    locator: str = ""
    review: Mapping[str, Json] = field(default_factory=dict)


def read_statements(record: Record) -> Iterator[Statement]:
    """The statements of a record in its current shape, each path once; none of an excluded record.

    Source: contract section 12.3.
    """
    if is_withheld(record):
        return
    apart = {statement.path: statement for statement in _apart(record)}
    found: list[Statement] = []
    for path, value in _fields(record):
        found.append(apart.pop(path) if path in apart else _plain(record, path, value))
    for relation, target in _links(record):
        label = f"Relationship: {relation.replace('_', ' ')}"
        found.append(_plain(record, f"links:{relation}:{target}", target, label))
    yield from _readable([*found, *apart.values()])


def _readable(statements: list[Statement]) -> list[Statement]:
    """The statements under paths in which keys stand as they are, unless two paths would then be the same."""
    names = {statement.path: statement.path for statement in statements}
    for path in names:
        if "%" in path and not path.startswith("links:"):
            names[path] = ".".join(map(str, split_path(path)))
    if len(set(names.values())) < len(names):
        return statements
    return [
        statement
        if names[statement.path] == statement.path
        else replace(
            statement,
            path=names[statement.path],
            label=names[statement.path] if statement.label == statement.path else statement.label,
        )
        for statement in statements
    ]


def value_text(value: Json) -> str:
    """A value as a cell: a text as it is, null as an empty cell, anything else as JSON.

    >>> value_text("5.60"), value_text(None), value_text(["a", 1])
    ('5.60', '', '["a",1]')
    """
    if value is None:
        return ""
    return value if type(value) is str else encode_json(value)


def value_at(record: Record, path: str) -> Json:
    """The value of a record at a path of keys, or None where there is none."""
    value: Json = record.data
    for part in path.split("."):
        inner = {step(key): v for key, v in value.items()} if isinstance(value, dict) else {}
        value = inner.get(part)
    return value


def _plain(record: Record, path: str, value: Json, label: str = "") -> Statement:
    """A field that nothing speaks about by itself."""
    label = label or path
    if record.kind == "source":
        return Statement(path, value, label, SOURCE, "catalogued", (record.id,))
    if _ADMINISTRATIVE.match(path):
        return Statement(path, value, label, CATALOGUE, "catalogued")
    status = "missing_or_unspecified" if _is_unspecified(value) else NOT_REVIEWED
    return Statement(path, value, label, CONTEXT, status, *_basis(record))


def _basis(record: Record) -> tuple[tuple[str, ...], str]:
    """The sources and the place that hold for a record as a whole."""
    return _ids(record.data["source_ids"]), value_text(record.attributes.get("source_locator"))


def _is_unspecified(value: Json) -> bool:
    if type(value) is str:
        return _UNSPECIFIED.fullmatch(value) is not None
    return value is None or value == [] or value == {}


def _fields(record: Record) -> Iterator[tuple[str, Json]]:
    """(path, value) of every leaf; a list is one leaf, and so is an empty object."""
    for key in _ENVELOPE:
        yield from _leaves(key, record.data.get(key))
    for key, value in sorted(record.attributes.items()):
        if key == "profile" and isinstance(value, dict):
            continue  # its parts are statements of their own
        yield from _leaves(f"attributes.{step(key)}", value)


def _leaves(path: str, value: Json) -> Iterator[tuple[str, Json]]:
    if isinstance(value, dict) and value:
        for key, inner in sorted(value.items()):
            yield from _leaves(f"{path}.{step(key)}", inner)
    else:
        yield path, value


def _links(record: Record) -> Iterator[tuple[str, str]]:
    """Each link once: a link that is written twice says nothing more."""
    links = record.data["links"]
    pairs = [
        (str(link["relation"]), str(link["target_id"]))
        for link in (links if isinstance(links, list) else ())
        if isinstance(link, dict)
    ]
    yield from dict.fromkeys(pairs)


# ---- Statements that name their own source and place ----


def _apart(record: Record) -> Iterator[Statement]:
    attributes = record.attributes
    if record.kind == "result" and "printed_value" in attributes:
        label = "Computed by the catalogue" if attributes.get("derivation") else "Reported result"
        review = _object(attributes.get("review"))
        status = str(record.data["status"])
        yield Statement(PRINTED, attributes["printed_value"], label, INDIVIDUAL, status, *_basis(record), review)
    profile = attributes.get("profile")
    if isinstance(profile, dict):
        yield from _profile(record, profile)
    guide = _object(attributes.get("run_guide"))
    noted = {**_object(guide.get("review")), "note": _COMMANDS_NOTE}
    for path, one in _objects("attributes.run_guide.steps", guide.get("steps")):
        if "shell" in one:
            status = CHECKED if guide.get("review") and one.get("source_ids") else NOT_REVIEWED
            label = f"Run commands: {value_text(one.get('title'))}"
            yield _own(f"{path}.shell", one["shell"], label, one, status, noted)
    for path, recipe in _objects("attributes.run_recipes", attributes.get("run_recipes")):
        yield from _recipe(path, recipe)
    run = attributes.get("reproduction")
    if isinstance(run, dict):
        for path, value in _leaves("attributes.reproduction", run):
            if path.split(".")[2:3] not in ([], ["source_ids"], ["source_locator"], ["review"]):
                yield _own(path, value, path, run, NOT_REVIEWED, _object(run.get("review")))


def _recipe(path: str, recipe: Mapping[str, Json]) -> Iterator[Statement]:
    review = _object(recipe.get("review"))
    title = value_text(recipe.get("title"))
    if "summary" in recipe:
        yield _own(f"{path}.summary", recipe["summary"], f"Recipe: {title}", recipe, NOT_REVIEWED, review)
    for place, one in _objects(f"{path}.instructions", recipe.get("instructions")):
        if "code" in one:
            label = f"Recipe: {value_text(one.get('title')) or title}"
            yield _own(f"{place}.code", one["code"], label, one, _status(one), review)


#: Lists of a profile: the key of the statement in an element, and the key (or the words) of its label.
_LISTS: Final = {
    "sections": ("body", "title", "Section"),
    "facts": ("value", "label", "Fact"),
    "strengths": ("text", "", "Strength"),
    "limitations": ("text", "", "Limitation"),
}


def _profile(record: Record, profile: Mapping[str, Json]) -> Iterator[Statement]:
    """The parts of a profile; what has another shape than expected is context, so that nothing is lost."""
    review = _object(profile.get("review"))
    for key, value in sorted(profile.items()):
        path = f"attributes.profile.{step(key)}"
        if key in ("coverage", "gaps", "review"):
            yield Statement(path, value, f"Profile {key}", CATALOGUE, "catalogued")
        elif key == "summary":
            cited = {name: profile.get(f"summary_{name}") for name in ("source_ids", "source_locator")}
            yield _own(path, value, "Introduction", cited, _checked(cited, review), review)
        elif key in _LISTS and isinstance(value, list):
            for index, one in enumerate(value):
                yield _element(record, f"{path}.{index}", one, key, review)
        elif key == "diagram" and isinstance(value, dict):
            for name in sorted(value):
                if name not in ("source_ids", "source_locator"):
                    label = f"Diagram {name}"
                    yield _own(f"{path}.{step(name)}", value[name], label, value, _checked(value, review), review)
        elif key not in ("summary_source_ids", "summary_source_locator"):
            yield from (_plain(record, place, leaf) for place, leaf in _leaves(path, value))


def _element(record: Record, path: str, one: Json, key: str, review: Mapping[str, Json]) -> Statement:
    name, label_key, words = _LISTS[key]
    if not isinstance(one, dict) or name not in one:
        return _plain(record, path, one)
    label = value_text(one.get(label_key)) or words
    status = _status(one) if key == "facts" else _checked(one, review)
    return _own(f"{path}.{name}", one[name], label, one, status, review)


def _own(
    path: str, value: Json, label: str, cited: Mapping[str, Json], status: str, review: Mapping[str, Json]
) -> Statement:
    """A statement with the sources and the place that it names itself, never those of its record."""
    locator = value_text(cited.get("source_locator"))
    return Statement(path, value, label, INDIVIDUAL, status, _ids(cited.get("source_ids")), locator, review)


def _status(one: Mapping[str, Json]) -> str:
    status = one.get("status")
    return status if isinstance(status, str) and status else NOT_REVIEWED


def _checked(cited: Mapping[str, Json], review: Mapping[str, Json]) -> str:
    """Checked only where the statement cites a source and the profile that holds it was reviewed."""
    return CHECKED if _ids(cited.get("source_ids")) and review else NOT_REVIEWED


def _objects(path: str, values: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for index, value in enumerate(values if isinstance(values, list) else ()):
        if isinstance(value, dict):
            yield f"{path}.{index}", value


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _ids(value: Json) -> tuple[str, ...]:
    """Cited ids, each once, sorted."""
    found = [one for one in (value if isinstance(value, list) else ()) if isinstance(one, str)]
    return tuple(sorted(set(found)))
