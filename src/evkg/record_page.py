"""The page of a record: all that a release knows of it, from the record, the graph, the shapes and the ontology."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote, urlencode

from evkg.conditions import read_setting
from evkg.contribution import read_contribution
from evkg.correction import read_correction
from evkg.evidence import Evidence
from evkg.evidence_section import make_evidence
from evkg.expected import Expected, expected_fields
from evkg.fieldset import field_sets
from evkg.glossary import Glossary
from evkg.matrix import read_comparability
from evkg.measurement import Measurements
from evkg.measurement_table import FILTERS, RowReader, make_table
from evkg.namespaces import EVKG
from evkg.pages import FORMATS, render_page
from evkg.provenance_diagram import provenance_pictures
from evkg.readiness import Readiness
from evkg.related import group_links
from evkg.research import CAPABILITIES, check_term
from evkg.scholarly import data_block, describe_thing
from evkg.shapes import Shapes
from evkg.signposting import form_path
from evkg.technical import technical_values
from evkg.trail import read_trail, review_words
from evkg.view import view_record
from evkg.withheld import is_withheld

if TYPE_CHECKING:
    from evkg.record import Record
    from evkg.release import Release

#: The parameters of a page: filters of the table of results and its page; scope, search and page of the evidence.
PARAMETERS: Final = (*FILTERS, "results", "scope", "find", "evidence")
#: How many links of one relation a page lists (count).
_MOST_LINKS: Final = 25
#: Longest text of a description for previews (characters).
_PREVIEW: Final = 200


class RecordPages:
    """Makes the pages of the records of a release. What all of them need is read when it is first asked for.

    >>> from evkg.release import open
    >>> "<h1>GENA-LM</h1>" in RecordPages(open()).render("gena-lm")
    True
    """

    def __init__(self, release: Release) -> None:
        self._release = release
        self._evidence = Evidence(release)
        self._measurements = Measurements(release)

    @cached_property
    def _expected(self) -> Mapping[str, list[Expected]]:
        return expected_fields(Shapes(self._release.folder / "shapes"), self._release.vocabulary)

    def warm(self) -> None:
        """Read what all pages need, so that the first page is as quick as the others."""
        self._measurements.citing("")
        if self._release.record_ids:
            self.render(self._release.record_ids[0])

    def render(self, record_id: str, values: Mapping[str, str] | None = None, *, base: str = "") -> str:
        """The page of a record; `values` are its parameters (`PARAMETERS`), `base` the address of the server.

        Raises: NotFoundError: no such record; names the nearest ids.
        """
        release = self._release
        record, schemes = release.read(record_id), release.vocabulary.schemes
        view = view_record(release, record_id)
        wanted = {name: text for name, text in (values or {}).items() if name in PARAMETERS and text}
        address = f"/id/{quote(record_id)}"
        reader = RowReader(release)
        found = [] if record.kind == "result" else self._measurements.of(record_id)
        item = self._measurements.of_result(record_id) if record.kind == "result" else None
        of_results: dict[str, str] = {name: wanted[name] for name in (*FILTERS, "results") if name in wanted}
        of_evidence: dict[str, str] = {name: wanted[name] for name in ("scope", "find", "evidence") if name in wanted}
        results = [record_id] if record.kind == "result" else [one.result for one in found if one.result]
        citing = self._measurements.citing(record_id) if record.kind == "source" else ()
        links = [link for link in view.links if not (citing and link.label == "cited by")]
        rows = self._evidence.rows_of(record_id)
        document = describe_thing(release, record, f"{base}{address}")
        review_gap = next(
            (f"{gap.reason}; {gap.note or gap.meaning}" for gap in view.gaps if gap.key == "review"), None
        )
        return render_page(
            "record.html",
            release,
            view=view,
            has_record=release.has_record,
            glossary=Glossary(record, release.vocabulary),
            reasons=[(key, one.definition) for key, one in sorted(schemes["missingness"].concepts.items())],
            kind=record.kind,
            subtitle=self._subtitle(record),
            preview=" ".join((view.description or " · ".join(view.headline or view.trust)).split())[:_PREVIEW],
            address=address,
            picture=f"/provenance.svg?{urlencode({'id': record_id})}",
            picture_data=f"/provenance.csv?{urlencode({'id': record_id})}",
            canonical=f"{base}{address}",
            feed=f"/feed.atom?{urlencode({'source': record_id})}",
            formats=[(f"/id/{form_path(release, record_id, suffix)}", kind) for suffix, kind in FORMATS],
            is_excluded=is_withheld(record),
            has_profile="profile" in release.vocabulary.attributes[record.kind] and "profile" not in record.attributes,
            setting=read_setting(release, reader, item) if item else None,
            sets=field_sets(view, record, release.vocabulary, self._expected[record.kind]),
            table=make_table(reader, found, of_results, address=address, kept=of_evidence) if found else None,
            comparable=read_comparability(release, reader.facts, results) if results else None,
            contribution=read_contribution(release, reader.facts, record_id, citing)
            if record.kind == "source"
            else None,
            readiness=self._readiness(view.readiness),
            evidence=make_evidence(rows, release.vocabulary, of_evidence, address=address, kept=of_results),
            review_words=review_words(record, release.vocabulary),
            review_gap=review_gap,
            way=provenance_pictures(release, record_id),
            trail=read_trail(release, record, review_gap),
            sources=[(link, self._source_facts(link.record_id)) for link in view.sources],
            related=group_links(links, _MOST_LINKS),
            technical=technical_values(release, record),
            correction=read_correction(release, record_id, view.name),
            data=data_block(document) if document else "",
        )

    def _subtitle(self, record: Record) -> list[str]:
        """What stands under the name of a source: where and when it appeared, in which version, how published."""
        if record.kind != "source":
            return []
        texts = [record.attributes.get(key) for key in ("venue", "year", "version")]
        status = record.attributes.get("publication_status")
        concept = self._release.vocabulary.schemes["publication-status"].concepts.get(str(status))
        return [str(text) for text in (*texts, concept.label if concept else status) if text]

    def _source_facts(self, source_id: str) -> dict[str, str]:
        """Where a source is, and which version of it was read; empty texts where that is not known."""
        known = self._release.has_record(source_id)
        attributes = self._release.read(source_id).attributes if known else {}
        facts = {key: str(attributes.get(key) or "") for key in ("url", "version", "retrieved_at")}
        return facts | {"url": facts["url"] if facts["url"].startswith(("https://", "http://")) else ""}

    def _readiness(self, found: Readiness | None) -> list[dict[str, Any]] | None:
        """The capabilities in words, in their order."""
        if found is None:
            return None
        labels, definitions = self._release.vocabulary.labels, self._release.vocabulary.definitions
        return [
            {
                "label": labels.get(EVKG + term, key),
                "meaning": definitions.get(EVKG + term, ""),
                "found": found.capabilities[key],
                "checks": [
                    (labels.get(EVKG + check_term(check), check), state)
                    for check, state in found.capabilities[key].checks.items()
                ],
            }
            for key, term in CAPABILITIES.items()
        ]


def record_pages(release: Release) -> RecordPages:
    """The maker of the pages of a release; one for each, which goes with it."""
    found = vars(release).get("record pages")
    return cast("RecordPages", found or vars(release).setdefault("record pages", RecordPages(release)))


def render_record(release: Release, record_id: str, values: Mapping[str, str] | None = None, *, base: str = "") -> str:
    """The page of a record.

    Raises: NotFoundError: no such record; names the nearest ids.

    >>> from evkg.release import open
    >>> "<h1>GENA-LM</h1>" in render_record(open(), "gena-lm")
    True
    """
    return record_pages(release).render(record_id, values, base=base)
