"""The page of the endpoint in a browser, rendered: the query, its answer, saved questions to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from evkg.answer_table import AnswerTable, GraphText
from evkg.namespaces import PREFIXES
from evkg.pages import render_page
from evkg.problem import Problem
from evkg.question_page import group_by_theme
from evkg.questions import load_questions
from evkg.service import Service

#: The query of an empty form: it runs on any release and shows how values, graphs and places hang together.
FIRST: Final = """\
SELECT ?id ?name ?printed WHERE {
  ?record evkg:recordId ?id ; foaf:primaryTopic ?result .
  ?result evkg:printedValue ?printed ; rdfs:label ?name .
}
ORDER BY ?id
LIMIT 20
"""
#: Formats of an answer by its form: suffix of the address, name.
TABLE_FORMATS: Final = (("csv", "CSV"), ("tsv", "TSV"), ("json", "JSON"), ("xml", "XML"))
GRAPH_FORMATS: Final = (("ttl", "Turtle"), ("nt", "N-Triples"), ("jsonld", "JSON-LD"), ("rdf", "RDF/XML"))
#: As long as the address of a download may be (characters); above, a form must be sent.
_MOST_ADDRESS: Final = 8000


def render_editor(
    service: Service,
    text: str,
    answer: AnswerTable | GraphText | bool | None,
    problem: Problem | None,
    *,
    has_editor: bool,
    graphs: Sequence[tuple[str, str]] = (),
) -> str:
    """The page with a query, its answer if it was asked, and what is wrong if something is."""
    return render_page(
        "sparql.html",
        service.release,
        text=text if text.strip() else FIRST,
        answer=answer,
        problem=problem,
        has_editor=has_editor,
        graphs=graphs,
        downloads=_downloads(text, answer, graphs),
        themes=group_by_theme(load_questions().values()),
        prefixes=PREFIXES,
        endpoint=service.endpoint,
        seconds=service.limits.seconds,
    )


def _downloads(
    text: str, answer: AnswerTable | GraphText | bool | None, graphs: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """Name and address of every format of an answer; none where there is no answer, or its query is too long."""
    query = urlencode([("query", text), *graphs])
    if answer is None or len(query) > _MOST_ADDRESS:
        return []
    formats = GRAPH_FORMATS if isinstance(answer, GraphText) else TABLE_FORMATS
    return [(name, f"/sparql/answer.{suffix}?{query}") for suffix, name in formats]
