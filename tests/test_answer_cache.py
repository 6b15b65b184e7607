from __future__ import annotations

from evkg.answer_cache import AnswerCache, Sent
from evkg.runningquery import Answer


def key(query: str) -> tuple[str, tuple[str, ...], tuple[str, ...], str | None, str | None]:
    return query, (), (), "csv", None


def test_those_unused_for_longest_make_room() -> None:
    cache = AnswerCache(3 * (500 + 4 + 100))
    for name in "abc":
        cache.put(key(name), Answer("SELECT", "csv", bytes(100)))
    assert cache.get(key("a")) is not None
    cache.put(key("d"), Answer("SELECT", "csv", bytes(100)))
    assert [cache.get(key(name)) is not None for name in "abcd"] == [True, False, True, True]
    assert cache.size <= cache.limit
    assert (cache.hits, cache.misses) == (4, 1)


def test_long_and_empty_answers_are_not_kept() -> None:
    cache = AnswerCache(10 << 20)
    cache.put(key("long"), Answer("SELECT", "csv", bytes(2 << 20)))
    cache.put(key("none"), Answer("SELECT", None, b""))
    assert (cache.get(key("long")), cache.get(key("none")), cache.size) == (None, None, 0)


def test_data_sets_and_formats_tell_answers_apart() -> None:
    cache = AnswerCache(10 << 20)
    cache.put(("ASK {}", ("urn:a",), (), "csv", None), Answer("ASK", "csv", b"true"))
    assert cache.get(("ASK {}", (), ("urn:a",), "csv", None)) is None
    assert cache.get(("ASK {}", ("urn:a",), (), "csv", "turtle")) is None
    assert cache.get(("ASK {}", ("urn:a",), (), "csv", None)) is not None


def test_a_cache_of_nothing_keeps_nothing() -> None:
    cache = AnswerCache(0)
    cache.put(key("a"), Answer("ASK", "csv", b""))
    cache.put_sent((b"a", b""), Sent([], b"", "a"))
    assert (cache.get(key("a")), cache.get_sent((b"a", b"")), cache.size) == (None, None, 0)
