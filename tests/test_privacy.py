"""Privacy: addresses, keys and home folders in public fields are found and never quoted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evkg.finding import Finding
from evkg.keys import check_keys
from evkg.vocabulary import Vocabulary
from tests.builds import record
from tests.strategies import as_record

#: Invented keys, put together here so that nothing takes this file for a leak.
SECRETS = [
    "ghp" + "_" + "a1B2" * 9,
    "github" + "_pat_" + "11ABCDE" * 5,
    "hf" + "_" + "abcdefgh" * 4 + "ij",
    "sk-" + "ant-api03-" + "x" * 30,
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AIza" + "b" * 35,
    "xoxb" + "-123456789012-abcdefghij",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0.SflKxwRJSMeKKF2QT4",
    "-----BEGIN RSA " + "PRIVATE KEY-----",
    "https://s3.aws.org/x?X-Amz-" + "Signature=" + "0f" * 32,
]


def private(vocabulary: Vocabulary, text: str, **changes: Any) -> list[Finding]:
    data = record("r", "task", attributes={"scope_note": text}, **changes)
    items = check_keys(as_record(data), vocabulary)
    return [item for item in items if item.rule.endswith("-in-text")]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:4])
def test_a_key_is_a_violation_and_is_not_repeated(vocabulary: Vocabulary, secret: str) -> None:
    (item,) = private(vocabulary, f"fetched with {secret}, see the log")
    assert (item.severity, item.rule, item.field) == ("violation", "secret-in-text", "attributes.scope_note")
    assert secret not in json.dumps([item.message, item.fix, item.value])
    assert item.value is None


@pytest.mark.parametrize(
    "text",
    [
        "Written by Jane (jane.doe@uni-nowhere.edu).",
        "mailto:j+x@mail.uni-nowhere.ac.uk",
        "Contact:jane@nowhere.edu.",
        "JANE@NOWHERE.EDU",
        "jane@uni.lisboa.pt",
    ],
)
def test_an_address_is_a_violation(vocabulary: Vocabulary, text: str) -> None:
    (item,) = private(vocabulary, text)
    assert (item.severity, item.rule, item.value) == ("violation", "address-in-text", None)


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:org/repo.git",
        "noreply@github.com",
        "you@example.org and me@mail.example.com",
        "numpy@1.26.4",
        "weights@v1.safetensors at model@main.py",
        "https://medium.com/@somebody/post",
        "recall@100 and P@k",
        "a @ b.org",
        "@context",
        "hf_transformer and sk-learn and AKIAH",
        "sha256:" + "a1" * 32,
        "https://example.org/home/page and /home/",
        "/home/user/data, /Users/username/x and C:\\Users\\me\\y",
        "part of /homework/jdoe",
    ],
)
def test_what_is_nobodys_is_fine(vocabulary: Vocabulary, text: str) -> None:
    assert private(vocabulary, text) == []


@pytest.mark.parametrize(
    "text", ["/home/jdoe/a.csv", "in `/Users/jdoe`", "C:\\Users\\jdoe\\a.csv", "file:///home/jdoe/x"]
)
def test_a_home_folder_is_a_warning(vocabulary: Vocabulary, text: str) -> None:
    (item,) = private(vocabulary, text)
    assert (item.severity, item.rule, item.value) == ("warning", "home-folder-in-text", None)


def test_every_field_and_key_is_looked_at(vocabulary: Vocabulary) -> None:
    address = "jane@nowhere.edu"
    data = record(
        "r",
        "configuration",
        name=address,
        description=f"By {address}",
        facets={"tasks": [address]},
        attributes={"hardware": {"owner": [{"mail": address}], address: 1}},
    )
    items = check_keys(as_record(data), vocabulary)
    fields = {item.field for item in items if item.rule == "address-in-text"}
    assert fields == {
        "name",
        "description",
        "facets.tasks.0",
        "attributes.hardware.owner.0.mail",
        "attributes.hardware",
    }


def test_an_address_in_escapes_is_one_too(vocabulary: Vocabulary) -> None:
    from evkg.record import Origin, make_record

    data = record("r", "task", attributes={"scope_note": "jane@nowhere.edu"})
    line = json.dumps(data).replace("@", "\\u0040")
    item, _ = make_record(data, Origin("a.jsonl", 1, text=line), vocabulary, raw=line)
    assert item is not None
    assert [one.rule for one in check_keys(item, vocabulary)] == ["address-in-text"]
