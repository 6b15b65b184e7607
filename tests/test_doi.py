"""DOIs: every spelling of one work comes out the same."""

from __future__ import annotations

from typing import Any

import pytest

from evkg.doi import plain_doi


@pytest.mark.parametrize(
    "text",
    [
        "10.1093/bioadv/vbaf071",
        "10.1093/BioAdv/VBAF071",
        "https://doi.org/10.1093/bioadv/vbaf071",
        "http://dx.doi.org/10.1093/bioadv/vbaf071",
        "HTTPS://DOI.ORG/10.1093/bioadv/vbaf071",
        "doi.org/10.1093/bioadv/vbaf071",
        "doi:10.1093/bioadv/vbaf071",
        "DOI: 10.1093/bioadv/vbaf071",
        "info:doi/10.1093/bioadv/vbaf071",
        "https://doi.org/10.1093%2Fbioadv%2fvbaf071",
        "10.1093/bioadv/vbaf071.",
        " 10.1093/bioadv/vbaf071/ ",
        "https://doi.org/10.1093/bioadv/vbaf071?download=1",
    ],
)
def test_spellings_of_one_doi(text: str) -> None:
    assert plain_doi(text) == "10.1093/bioadv/vbaf071"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("10.48550/arXiv.2301.00001v3", "10.48550/arxiv.2301.00001"),
        ("10.48550/arXiv.2301.00001", "10.48550/arxiv.2301.00001"),
        ("10.1101/2026.04.23.123456v1", "10.1101/2026.04.23.123456"),
        ("10.6084/m9.figshare.123.v2", "10.6084/m9.figshare.123.v2"),
        ("10.5555/rev2", "10.5555/rev2"),
    ],
)
def test_only_versions_of_preprints_fall_away(text: str, plain: str) -> None:
    assert plain_doi(text) == plain


@pytest.mark.parametrize(
    "text", ["", "10.1093", "https://example.org/10.1093/x", "n/a", None, 10.1, "10.1093/" + "x" * 2000]
)
def test_what_is_no_doi(text: Any) -> None:
    assert plain_doi(text) is None
