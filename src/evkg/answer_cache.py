"""Answers that are kept for whoever asks the same again: a release never changes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, Final, NamedTuple

from evkg.runningquery import Answer

#: The longest answer that is kept (bytes).
_MOST_OF_ONE: Final = 1 << 20
#: What an entry takes beside its texts (bytes, about).
_OVERHEAD: Final = 500

#: What an answer follows from: the query, its data set, the formats on offer.
Key = tuple[str, tuple[str, ...], tuple[str, ...], str | None, str | None]
#: What a request says: its query string and its Accept header.
SentKey = tuple[bytes, bytes]


class Sent(NamedTuple):
    """A response as it was sent: its headers and body, and the query that it answers."""

    headers: list[tuple[bytes, bytes]]
    body: bytes
    query: str


class AnswerCache:
    """Answers by what they follow from, together no more than so many bytes; those unused for longest go first.

    >>> cache = AnswerCache(700)
    >>> cache.put(("ASK {}", (), (), "csv", None), Answer("ASK", "csv", b"true"))
    >>> cache.get(("ASK {}", (), (), "csv", None)).body, cache.get(("ASK {}", (), (), "json", None))
    (b'true', None)
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self.hits = self.misses = 0
        self._entries: OrderedDict[Any, tuple[Any, int]] = OrderedDict()

    def get(self, key: Key) -> Answer | None:
        """The answer, if it is kept."""
        answer: Answer | None = self._get(key)
        if answer is None:
            self.misses += 1
        else:
            self.hits += 1
        return answer

    def put(self, key: Key, answer: Answer) -> None:
        """Keep a whole answer, unless it is long or holds nothing."""
        if answer.rest is None and answer.format_name is not None:
            self._put(key, answer, len(answer.body) + 4 * len(key[0]) + 4 * sum(map(len, key[1] + key[2])))

    def get_sent(self, key: SentKey) -> Sent | None:
        """The response to a request of these bytes, if it is kept."""
        sent: Sent | None = self._get(key)
        self.hits += sent is not None
        return sent

    def put_sent(self, key: SentKey, sent: Sent) -> None:
        """Keep a response, unless it is long."""
        self._put(key, sent, len(sent.body) + len(key[0]) + len(key[1]) + 4 * len(sent.query))

    def _get(self, key: Key | SentKey) -> Any:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def _put(self, key: Key | SentKey, value: Answer | Sent, size: int) -> None:
        size += _OVERHEAD
        if key in self._entries or size > min(_MOST_OF_ONE, self.limit):
            return
        self._entries[key] = value, size
        self.size += size
        while self.size > self.limit:
            self.size -= self._entries.popitem(last=False)[1][1]
