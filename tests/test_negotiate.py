from __future__ import annotations

import pytest

from evkg.negotiate import ERRORS, GRAPHS, PAGE_ERRORS, RECORDS, TABLES, Variant, choose

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


def chosen(accept: str | None, variants: tuple[Variant, ...]) -> str | None:
    variant = choose(accept, variants)
    return variant.media_type if variant else None


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "application/sparql-results+json"),
        ("", "application/sparql-results+json"),
        ("*/*", "application/sparql-results+json"),
        ("application/*", "application/sparql-results+json"),
        ("text/*", "text/csv"),
        ("application/json", "application/json"),
        ("application/sparql-results+xml", "application/sparql-results+xml"),
        ("application/xml", "application/xml"),
        ("text/xml", "text/xml"),
        ("text/csv", "text/csv"),
        ("text/tab-separated-values", "text/tab-separated-values"),
        ("TEXT/CSV", "text/csv"),
        ("text/csv; charset=utf-8", "text/csv"),
        ("text/csv;q=0.5, application/sparql-results+xml;q=0.6", "application/sparql-results+xml"),
        ("text/csv;Q=0.1 , application/xml ; q = 0.2", "application/xml"),
        ("text/csv, */*", "text/csv"),
        ("*/*, text/csv", "text/csv"),
        ("text/csv, application/sparql-results+json", "text/csv"),
        ("text/html, image/gif, *; q=.2, */*; q=.2", "application/sparql-results+json"),
        (BROWSER, "application/xml"),
        ("text/html", None),
        ("text/turtle, application/rdf+xml", None),
        ("text/csv;q=0", None),
        ("text/csv;q=0, text/*", "text/tab-separated-values"),
        ("application/sparql-results+json;q=0, */*;q=0.1", "application/sparql-results+xml"),
        ("text/csv;q=9, application/xml;q=1", "text/csv"),
        ("text/csv;q=nan", "text/csv"),
        ("text/csv;q=-1", "text/csv"),
    ],
)
def test_a_table_is_sent_as_the_client_wants_it_most(accept: str | None, media_type: str | None) -> None:
    assert chosen(accept, TABLES) == media_type


def test_types_of_the_other_form_do_not_count() -> None:
    accept = "application/sparql-results+json,text/turtle"
    assert chosen(accept, TABLES) == "application/sparql-results+json"
    assert chosen(accept, GRAPHS) == "text/turtle"
    assert chosen("application/sparql-results+xml, application/rdf+xml", GRAPHS) == "application/rdf+xml"


def test_a_wildcard_of_low_quality_breaks_nothing() -> None:
    accept = "application/json; q=1.0, application/sparql-results+json; q=0.8, text/csv; q=0.1, */*; q=0.1"
    assert chosen(accept, TABLES) == "application/json"


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "text/html"),
        (BROWSER, "text/html"),
        (
            'application/ld+json; profile="http://www.w3.org/ns/json-ld#compacted", text/html;q=0.5',
            "application/ld+json",
        ),
        ('application/ld+json; profile="a,b;q=0", text/html;q=0.5', "application/ld+json"),
        ('text/turtle;x="\\",text/html";q=0.7, application/json;q=0.6', "text/turtle"),
        ("application/json", "application/json"),
        ("application/pdf", None),
    ],
)
def test_a_record_is_sent_as_the_client_wants_it_most(accept: str | None, media_type: str | None) -> None:
    assert chosen(accept, RECORDS) == media_type


@pytest.mark.parametrize("accept", [",;,", ";;q=1", '"', "html", "*/html", "a/b/c", "text/", "\u00e9/x"])
def test_what_cannot_be_read_counts_as_no_header(accept: str) -> None:
    assert chosen(accept, RECORDS) == "text/html"


@pytest.mark.parametrize("accept", ['"' + '\\"' * 30_000, 'a/b;q="' + '"\\' * 30_000, "a/" * 30_000, "," * 60_000])
def test_a_hostile_header_is_read_once(accept: str) -> None:
    choose(accept, TABLES)


def test_errors_are_pages_only_where_people_come() -> None:
    assert chosen(BROWSER, PAGE_ERRORS) == "text/html"
    assert chosen(BROWSER, ERRORS) == "application/problem+json"
    assert chosen("text/plain", ERRORS) == "text/plain"


def test_text_types_say_their_charset() -> None:
    types = {variant.content_type for variant in (*TABLES, *GRAPHS, *RECORDS) if variant.media_type.startswith("text/")}
    assert all(value.endswith("; charset=utf-8") for value in types)
