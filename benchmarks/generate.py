"""A synthetic data set of the shape of a real catalogue: `generate.py --size 0.1 --seed 1 --out FILE.jsonl`.

Size 1 is the catalogue that `KINDS` counts (28,700 records, 52 MB); other sizes scale the counts. The file is JSON
Lines in the compact form, sorted by id. Every text is invented; nothing describes a real paper, person or model. A set
without faults has no violations. `--faults N` plants N, each one violation, and lists them in FILE.faults.tsv.

A record depends on the seed, its kind and its number only, so records are made one at a time in the order of ids: what
stays in memory is the list of ids and four numbers for each evaluation. No hash of Python is used, so the same
arguments give the same bytes everywhere.

Two choices where the recipe leaves one. Papers and configurations are drawn by Zipf's law (exponent 1, shifted so that
the largest paper has 5% of the evaluations) inside catalogues of size 1: a paper's table does not grow because the
catalogue does. And the share of profiled records (5-25 KB) of a kind is what gives the kind its mean size.
"""

from __future__ import annotations

import argparse
import bisect
import itertools
import json
import sys
import time
from array import array
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, Final

Record = dict[str, Any]
Attributes = dict[str, Any]
#: What stands under missing_metadata: field -> reason and note.
Entries = dict[str, dict[str, str]]

#: kind -> (records at size 1, mean characters of a record). Source: the counts of a public catalogue of this kind.
KINDS: Final[dict[str, tuple[int, int]]] = {
    "result": (12_487, 1_600),
    "evaluation": (9_191, 1_700),
    "configuration": (2_710, 1_240),
    "claim": (1_333, 3_200),
    "source": (1_018, 990),
    "task": (495, 4_900),
    "protocol": (436, 5_700),
    "dataset_subset": (362, 810),
    "dataset": (200, 1_770),
    "pipeline": (125, 3_400),
    "model": (107, 6_900),
    "baseline": (83, 1_330),
    "method": (70, 2_900),
    "benchmark": (55, 9_000),
    "evaluator": (4, 8_200),
    "service": (2, 5_650),
    "use_case": (28, 5_000),
}
_NAMES: Final = tuple(KINDS)
#: What a bare record of a kind with profiles comes to, a claim that is no judgement, and the profiled records
#: (low, high, mode); characters.
_BARE: Final = 950
_PLAIN_CLAIM: Final = 1_500
_PROFILED: Final = (5_000, 25_000, 9_000)
_WITH_PROFILE: Final = ("task", "protocol", "pipeline", "model", "method", "benchmark", "evaluator", "service")
#: A code holds a kind and a number: kind * _STEP + number.
_STEP: Final = 10_000_000

_WORDS: Final = {"evaluation": "eval", "configuration": "config", "dataset_subset": "subset", "use_case": "use-case"}
_FAMILIES: Final = (
    "dart-eval", "nabench", "open-problems", "proteingym", "genie3", "rhofold", "cnv-20261009",
    "ctdnameth-20261009", "uc20260930", "ucc", "rewire-local",
)  # fmt: skip
_TOPICS: Final = (
    "splice-site-strength", "enhancer-activity", "contact-order", "ligand-pose", "codon-usage", "cell-state-transfer",
    "promoter-orientation", "loop-closure", "fold-stability", "peptide-retention", "membrane-insertion",
    "variant-triage", "operon-boundary", "glycan-branching", "dose-response", "doublet-removal", "read-depth",
    "interface-patch", "methylation-age", "guide-efficiency",
)  # fmt: skip
_AREAS: Final = (
    "dna-genomes", "rna-transcriptomes", "protein-function", "protein-structure", "single-cell", "cells-tissues",
    "molecular-interactions", "microbes-communities", "biological-networks", "spatial-omics",
    "cells-spatial-multiomics",
)  # fmt: skip
_METHOD_TYPES: Final = ("foundation_model", "specialist", "supervised_machine_learning", "conventional_pipeline")
#: metric -> (better, unit, low, high, decimals, printed name).
_METRICS: Final[dict[str, tuple[str, str, float, float, int, str]]] = {
    "spearman-correlation": ("higher", "unitless", 0.1, 0.9, 3, "Spearman rho"),
    "auroc": ("higher", "fraction", 0.5, 0.99, 3, "AUROC"),
    "auprc": ("higher", "fraction", 0.1, 0.95, 3, "AUPRC"),
    "accuracy": ("higher", "percent", 30, 99, 1, "Accuracy"),
    "f1-score": ("higher", "fraction", 0.2, 0.97, 2, "F1"),
    "macro-f1": ("higher", "percent", 20, 95, 2, "Macro F1"),
    "recall": ("higher", "fraction", 0.1, 0.99, 3, "Recall"),
    "precision": ("higher", "fraction", 0.1, 0.99, 3, "Precision"),
    "matthews-correlation-coefficient": ("higher", "unitless", -0.1, 0.9, 3, "MCC"),
    "ndcg": ("higher", "fraction", 0.3, 0.98, 3, "NDCG"),
    "pearson-correlation": ("higher", "unitless", -0.2, 0.95, 2, "Pearson r"),
    "rmsd": ("lower", "angstrom", 0.6, 14, 2, "RMSD"),
    "tm-score": ("higher", "unitless", 0.2, 0.97, 3, "TM-score"),
    "lddt": ("higher", "percent", 40, 95, 1, "lDDT"),
    "gdt-ts": ("higher", "percent", 20, 95, 2, "GDT-TS"),
    "mean-absolute-error": ("lower", "kilocalorie-per-mole", 0.3, 4, 3, "MAE"),
    "root-mean-squared-error": ("lower", "unit-unreported", 0.4, 6, 3, "RMSE"),
    "average-precision": ("higher", "fraction", 0.05, 0.9, 4, "AP"),
    "runtime": ("lower", "second", 1, 9000, 0, "Run time"),
    "peak-memory": ("lower", "gigabyte", 1, 160, 2, "Peak memory"),
    "inference-throughput": ("higher", "sample-per-second", 1, 4000, 1, "Throughput"),
    "count": ("unknown", "count", 0, 5000, 0, "Count"),
}  # fmt: skip
_METRIC_KEYS: Final = tuple(_METRICS)
_VARIANTS: Final = ("base", "large", "ft", "zero-shot")
_SYLLABLES: Final = "ve lo ri qua ten mor sil dra nex pho ka lun zer tia bro hel vim osa"
_SUBJECTS: Final = (
    "The scored table", "The held-out panel", "Each submission", "The frozen encoder", "The authors' script",
    "The supplementary sheet", "The ranking column", "A second annotator", "The released checkpoint",
    "The evaluation harness", "The matched background set", "The printed mean", "The “fast” setting",
    "The 5′ flank", "Every replicate", "The calibration curve", "The deposited archive", "The cohort",
)  # fmt: skip
_PREDICATES: Final = (
    "was read from the pinned file", "keeps the row order of the source", "excludes items without a label",
    "was rounded to the digits shown", "covers the chromosomes that were held out", "uses the default threshold of 0.5",
    "does not name the software revision", "averages over folds before it averages over tasks",
    "was computed on sequences shorter than 1,022 residues", "repeats the run with three seeds",
    "treats ties as half a win", "states no interval", "differs from the main text by ± 0.01",
    "was trained on structures up to 3 Å", "reports the median – not the mean –", "leaves out two failed targets",
)  # fmt: skip
_ADJUNCTS: Final = (
    "in the second column of the table", "as the caption says", "for all systems that are compared", "in the appendix",
    "and this was not checked independently", "so no identity of the family is inferred", "under the same budget",
    "with the settings that its page lists", "before any filtering", "at the snapshot that was retrieved",
    "and the remaining cells are empty", "on one accelerator", "without further comment", "for the final release only",
)  # fmt: skip
_COMPARISON: Final = (
    "protocol_id", "dataset_version", "split", "population", "inputs", "adaptation", "metric_implementation",
    "aggregation", "budget",
)  # fmt: skip
_REVIEW_METHODS: Final = (
    ("ai-assisted-source-review",), ("automated-source-review",), ("independent-cell-check", "scope-review"),
    ("deterministic-table-parse",), ("transcription",),
)  # fmt: skip
#: Fields of a kind that may be absent with a reason.
_ABSENT: Final[dict[str, tuple[str, ...]]] = {
    "result": ("aggregation", "coverage", "seeds", "metric_implementation", "denominator", "checkpoint_revision"),
    "evaluation": ("seeds", "coverage", "inference_hardware", "checkpoint_revision", "scored_count", "n_runs"),
    "configuration": ("checkpoint", "hardware", "version", "checkpoint_revision", "model_family", "hyperparameters"),
    "source": ("licence", "doi", "publication_status", "article_licence", "code_licence"),
    "task": ("metric_qualifier", "splits", "version"),
    "protocol": ("aggregation", "uncertainty", "version", "random_seeds", "unit"),
    "dataset_subset": ("split_manifest", "test_count", "split_hashes"),
    "dataset": ("population", "split", "species", "split_manifest_sha256", "reuse_restrictions"),
    "pipeline": ("checkpoint_revision", "parameters"),
    "model": ("licence", "checkpoint_revision", "training_data"),
    "baseline": ("implementation_version", "protocol_applicability"),
    "method": ("checkpoint_revision", "parameters"),
    "benchmark": ("checkpoint_revisions", "split_manifest", "version"),
}
#: How many entries a kind has on average beyond those that a rule asks for.
_ENTRIES: Final = {"result": 1.45, "evaluation": 1.35, "configuration": 3.0, "protocol": 2.0, "source": 1.6}
_ORIGINS: Final = (
    ("author_reported", 0.6), ("independent_paper", 0.25), ("paper_compilation", 0.1), ("rewire_run", 0.05),
)  # fmt: skip
#: Relations that count only when a claim states them.
_VERIFIED: Final = (
    "alias_of", "configuration_of", "evaluates_task", "family", "part_of", "uses_model", "variant_of",
)  # fmt: skip


def encode(record: Record) -> str:
    """A record as one line of JSON in the compact form, without the line feed."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


class _Skew:
    """Draws numbers below `count` by Zipf's law inside blocks of at most `block`."""

    def __init__(self, count: int, block: int, shift: float = 2.7) -> None:
        self._count = count
        self._blocks = -(-count // block)
        ranks = -(-count // self._blocks)
        self._weights = list(itertools.accumulate(1 / (rank + 1 + shift) for rank in range(ranks)))

    def draw(self, random: Random) -> int:
        while True:
            rank = bisect.bisect(self._weights, random.random() * self._weights[-1])
            number = rank * self._blocks + random.randrange(self._blocks)
            if number < self._count:
                return number


class Catalogue:
    """Every record of a synthetic catalogue, each made when it is asked for.

    >>> catalogue = Catalogue(0.0017, 1)
    >>> sum(catalogue.counts.values()), catalogue.record("source", 0)["kind"]
    (58, 'source')
    """

    def __init__(self, size: float, seed: int) -> None:
        self.size = size
        self.seed = seed
        self.counts = {kind: max(1, round(count * size)) for kind, (count, _) in KINDS.items()}
        self._text = _prose(_generator(seed, "text"))
        self._plan(_generator(seed, "plan"))

    # ---- what stands in which relation ----

    def _plan(self, random: Random) -> None:
        """Which paper, system, assessment and data each evaluation has, and which evaluation each result."""
        counts = self.counts
        skew = {kind: _Skew(counts[kind], KINDS[kind][0]) for kind in KINDS}
        tables: dict[tuple[int, int], tuple[int, int]] = {}
        self._paper, self._system = array("I"), array("I")
        self._assessment, self._data = array("I"), array("I")
        for _ in range(counts["evaluation"]):
            paper = skew["source"].draw(random)
            table = paper, int(random.expovariate(0.9))
            if table not in tables:
                chosen = _weighted(random, (("protocol", 62), ("task", 34), ("benchmark", 3), ("evaluator", 1)))
                data = "dataset_subset" if random.random() < 0.6 else "dataset"
                tables[table] = _code(chosen, skew[chosen].draw(random)), _code(data, skew[data].draw(random))
            system = _weighted(
                random, (("configuration", 95), ("model", 2), ("method", 1), ("pipeline", 1), ("service", 1))
            )
            self._paper.append(paper)
            self._system.append(_code(system, skew[system].draw(random)))
            self._assessment.append(tables[table][0])
            self._data.append(tables[table][1])
        evaluations = counts["evaluation"]
        results = array("H", [1]) * evaluations
        left = max(0, counts["result"] - evaluations)
        while left:
            chosen_evaluation = random.randrange(evaluations)
            more = min(left, random.choice((1, 1, 1, 1, 2, 2, 3, 4, 6, 9)), 60 - results[chosen_evaluation])
            if random.random() < 0.01:
                more = min(left, 60 - results[chosen_evaluation])
            results[chosen_evaluation] += more
            left -= more
        self._first = array("I", [0])
        self._evaluation = array("I")
        for number, count in enumerate(results[: counts["result"]]):
            self._evaluation.extend([number] * count)
            self._first.append(len(self._evaluation))
        self._under: dict[int, array[int]] = {}
        for number, code in enumerate(self._assessment):
            self._under.setdefault(code, array("I")).append(number)

    def _stir(self, *what: object) -> Random:
        """A generator of its own for one thing."""
        return _generator(self.seed, *what)

    def record_id(self, kind: str, number: int) -> str:
        """The id of a record.

        >>> Catalogue(0.0017, 1).record_id("use_case", 0)[:9]
        'use-case-'
        """
        digest = blake2b(f"{self.seed} {kind} {number}".encode(), digest_size=12).hexdigest()
        draw = int(digest[20:], 16)
        word = _WORDS.get(kind, kind)
        topic = _TOPICS[draw % len(_TOPICS)]
        if kind == "use_case":
            return f"use-case-{topic}-{number}"
        if draw % 100 < 62:
            return f"acquired-{kind.replace('_', '-')}-{digest[:20]}"
        family = _FAMILIES[draw // 7 % len(_FAMILIES)]
        return f"{family}-{word}-{topic}-{digest[:2]}-{number}"

    def _id(self, code: int) -> str:
        return self.record_id(_NAMES[code // _STEP], code % _STEP)

    def _any(self, random: Random, kind: str) -> int:
        return _code(kind, random.randrange(self.counts[kind]))

    def links(self, kind: str, number: int) -> list[tuple[str, int]]:
        """(relation, code of the target) of each link of a record, other than a claim's."""
        if kind == "evaluation":
            own = [("system", self._system), ("assessment", self._assessment), ("data", self._data)]
            found = [(relation, codes[number]) for relation, codes in own]
            if number and self._origin(number) == "paper_compilation" and number % 2:
                found.append(("original_evaluation", _code("evaluation", number // 2)))
            return found
        if kind == "result":
            return [("evaluation", _code("evaluation", self._evaluation[number]))]
        random = self._stir("links", kind, number)
        found = []
        if kind == "configuration" and random.random() < 0.85:
            owner = _weighted(random, (("model", 62), ("method", 20), ("pipeline", 17), ("service", 1)))
            found.append(("configuration_of", self._any(random, owner)))
        elif kind in ("protocol", "task"):
            if random.random() < 0.8:
                found.append(("part_of", self._any(random, "benchmark")))
            if kind == "protocol" and (not found or random.random() < 0.3):
                found.append(("evaluates_task", self._any(random, "task")))
        elif kind in ("model", "method") and number and random.random() < 0.3:
            relation = _weighted(random, (("family", 5), ("variant_of", 4), ("alias_of", 1)))
            found.append((relation, _code(kind, random.randrange(number))))
        elif kind == "pipeline" and random.random() < 0.5:
            found.append(("uses_model", self._any(random, "model")))
        elif kind == "dataset_subset" and random.random() < 0.1:
            found.append(("same_data_as", self._any(random, "dataset")))
        elif kind == "dataset" and random.random() < 0.05:
            found.append(("used_in", self._any(random, "benchmark")))
        elif kind == "baseline":
            found.append(("implemented_by", self._any(random, "method")))
            found.append(("applicable_to", self._any(random, "task")))
            if random.random() < 0.3:
                found.append(("measured_in", self._any(random, "evaluation")))
        elif kind == "use_case":
            protocols = range(self.counts["protocol"])
            chosen = random.sample(protocols, min(random.randint(5, 9), len(protocols)))
            found.extend(("assessed_by", _code("protocol", protocol)) for protocol in chosen)
        return found

    def _origin(self, evaluation: int) -> str:
        draw = self._stir("origin", evaluation).random()
        return _share(draw, _ORIGINS)

    # ---- records ----

    def record(self, kind: str, number: int, *, plain: bool = False) -> Record:
        """One record; `plain` ones have neither an older shape nor an unknown key, and are not withdrawn."""
        random = self._stir("record", kind, number)
        attributes: Attributes = {}
        record: Record = {
            "id": self.record_id(kind, number),
            "kind": kind,
            "name": "",
            "description": self._sentence(random) if random.random() < 0.7 else "",
            "status": self._status(random, plain=plain),
            "facets": self._facets(random, kind),
            "source_ids": self._sources(random, kind, number),
            "links": [
                {"relation": relation, "target_id": self._id(code)} for relation, code in self.links(kind, number)
            ],
            "attributes": attributes,
        }
        missing: Entries = {}
        target = self._target(random, kind, number)
        _BUILDERS[kind](self, record, random, number, missing)
        if record["name"] == "":
            record["name"] = f"{_name(random)} {_TOPICS[random.randrange(len(_TOPICS))].replace('-', ' ')}"
        if random.random() < 0.02:
            record["name"] += random.choice((" (β-form)", " （第二版）", " ± Å′", " – Überlauf", " Šárka-Ωμ"))
        self._explain(random, record, missing)
        if missing:
            attributes["missing_metadata"] = missing
        self._pad(random, record, _code(kind, number), target)
        if not plain:
            self._unusual(random, record)
        return record

    def _status(self, random: Random, *, plain: bool) -> str:
        status = _share(random.random(), (("source_checked", 0.75), ("discovered", 0.24), ("needs_review", 0.005)))
        if status == "needs_review" and random.random() < 0.5:
            status = random.choice(("superseded", "disputed", "excluded", "reproduced"))
        return "needs_review" if plain and status == "excluded" else status

    def _facets(self, random: Random, kind: str) -> dict[str, list[str]]:
        if kind in ("result", "evaluation", "claim") and random.random() < 0.8:
            return {}
        facets = {"areas": [_AREAS[min(int(random.expovariate(0.4)), len(_AREAS) - 1)]]}
        if random.random() < 0.5:
            facets["contexts"] = ["clinical_research" if random.random() < 0.2 else "research"]
        if kind in ("model", "method", "configuration", "pipeline"):
            facets["method_types"] = [random.choice(_METHOD_TYPES)]
        if kind in ("task", "benchmark"):
            facets["tasks"] = [random.choice(_TOPICS).replace("-", " ")]
        return facets

    def _sources(self, random: Random, kind: str, number: int) -> list[str]:
        if kind == "source":
            return []
        if kind in ("result", "evaluation"):  # a result cites what its evaluation does
            evaluation = self._evaluation[number] if kind == "result" else number
            paper, random = self._paper[evaluation], self._stir("sources", evaluation)
        else:
            paper = random.randrange(self.counts["source"])
        found = [self.record_id("source", paper)]
        if random.random() < 0.15:
            other = self.record_id("source", random.randrange(self.counts["source"]))
            found.extend([other] if other not in found else [])
        return found

    def _target(self, random: Random, kind: str, number: int) -> int:
        """How long the record is to be (characters); a judgement is longer than that."""
        mean = _PLAIN_CLAIM if kind == "claim" else KINDS[kind][1]
        if kind not in _WITH_PROFILE:
            return int(mean * random.triangular(0.6, 1.5, 0.9))
        low, high, mode = _PROFILED
        share = (mean - _BARE) / ((low + high + mode) / 3 - _BARE)
        if _spread(number) < share:
            return int(random.triangular(low, high, mode))
        return int(random.triangular(0.5, 1.4, 1.1) * _BARE)

    def _sentence(self, random: Random, length: int = 120) -> str:
        """Prose of about `length` characters, beginning with a sentence."""
        start = self._text.find(". ", random.randrange(len(self._text) - 30_000)) + 2
        return self._text[start : start + length].rpartition(" ")[0].rstrip(" .–") + "."

    def _locator(self, random: Random) -> str:
        table = "Table" if random.random() < 0.7 else "Supplementary Data"
        return (
            f"{table} {random.randint(1, 9)}, row '{_name(random)} ({random.choice(_VARIANTS)})', "
            f"column {random.randint(1, 24)}"
        )

    def _review(self, random: Random) -> Attributes:
        review: Attributes = {"method": list(random.choice(_REVIEW_METHODS))}
        if random.random() < 0.5:
            review["reviewer"] = [random.choice(("codex", "claude", "rewire-deterministic-table-checker"))]
        review["date"] = _date(random)
        if random.random() < 0.6:
            review["scope"] = "Transcription of the printed cell; no run was repeated."
        if random.random() < 0.3:
            review["note"] = self._sentence(random, 90)
        if random.random() < 0.2:
            review["artifact_sha256"] = _hex(random, 64)
        return review

    def _explain(self, random: Random, record: Record, missing: Entries) -> None:
        """Add entries for fields that have no value."""
        kind, attributes = record["kind"], record["attributes"]
        free = [key for key in _ABSENT.get(kind, ()) if key not in attributes and key not in missing]
        wanted = _ENTRIES.get(kind, 1.5)
        count = int(wanted) + (random.random() < wanted % 1)
        for key in free[:count]:
            missing[key] = self._reason(random)

    def _reason(self, random: Random) -> dict[str, str]:
        entry = {"reason": _share(random.random(), (("unreported", 0.6), ("unextracted", 0.3985)))}
        if entry["reason"] == "unextracted" and random.random() < 0.0015:
            entry["reason"] = random.choice(("unavailable", "unavailable", "inapplicable", "conflicting"))
        if random.random() < 0.12:
            entry["note"] = self._sentence(random, 70)
        return entry

    def _pad(self, random: Random, record: Record, code: int, target: int) -> None:
        """Bring a record to about `target` characters: a profile, conditions, a longer locator, a note on its scope."""
        kind, attributes = record["kind"], record["attributes"]
        short = target - len(encode(record))
        if kind in _WITH_PROFILE and short > 3_000:
            self._profile(random, record, code, short)
            short = target - len(encode(record))
        if kind in ("evaluation", "result") and short > 120 and random.random() < 0.7:
            key = "conditions" if kind == "evaluation" else "scoring_conditions"
            short -= self._conditions(random, attributes, key, short)
        if "source_locator" in attributes and short > 40:
            more = min(short, 160)
            attributes["source_locator"] += "; " + self._sentence(random, more - 3)
            short -= more
        key = _NOTE_KEYS.get(kind, "scope_note")
        while short > 60 and key in ("limitations", "evidence_gaps"):
            more = min(short, random.randint(120, 260))
            attributes.setdefault(key, []).append(self._sentence(random, more - 4))
            short -= more
        if short > 60:
            attributes[key] = self._sentence(random, short - len(key) - 7)
            _unexplain(record, (key,))

    def _conditions(self, random: Random, attributes: Attributes, key: str, short: int) -> int:
        """Open conditions up to `short` characters, and how many that came to."""
        conditions: Attributes = {
            "edition": f"{random.choice(('v', 'r'))}{random.randint(1, 6)}.{random.randint(0, 9)}",
            "row": random.randint(1, 900),
        }
        if random.random() < 0.4:
            conditions["is_final"] = random.random() < 0.5
        length = len(encode(conditions)) + len(key) + 4
        while length + 120 < short - 160:
            name = random.choice(_TOPICS).replace("-", "_")
            conditions[name] = self._sentence(random, min(random.randint(80, 420), short - length - 160))
            length += len(conditions[name]) + len(name) + 6
        attributes[key] = conditions
        return length

    def _profile(self, random: Random, record: Record, code: int, short: int) -> None:
        """A profile of about `short` characters: facts, sections, and panels on assessments."""
        attributes = record["attributes"]
        cited = {"source_ids": record["source_ids"][:1]}
        is_reviewed = random.random() < 0.15
        profile: Attributes = {
            "summary": self._sentence(random, 400),
            "summary_source_ids": record["source_ids"][:1],
            "summary_source_locator": self._locator(random),
            "sections": [{"title": "What it does", "body": self._sentence(random, 500), **cited,
                          "source_locator": self._locator(random)}],
            "facts": [],
            "strengths": [],
            "limitations": [],
            "coverage": "reviewed" if is_reviewed else "limited",
            "gaps": [] if is_reviewed else [self._sentence(random, 100)],
            "review": {"method": "automated_source_review", "date": _date(random)},
        }  # fmt: skip
        attributes["profile"] = profile
        left = short - len(encode(profile)) - 200
        if record["kind"] in ("task", "protocol") and random.random() < 0.6:
            left -= self._panel(random, record, code, left)
        while left > 500:
            draw = random.random()
            item: Attributes = {**cited, "source_locator": self._locator(random)}
            if draw < 0.6:
                status = _share(
                    random.random(), (("source_checked", 0.79), ("unreported", 0.15), ("inapplicable", 0.05))
                )
                item = {"label": random.choice(_TOPICS), "value": self._sentence(random, 150), "status": status, **item}
                profile["facts"].append(item)
            elif draw < 0.8:
                item = {"title": self._sentence(random, 40), "body": self._sentence(random, 600), **item}
                profile["sections"].append(item)
            else:
                item = {"text": self._sentence(random, 180), **item}
                profile["strengths" if draw < 0.9 else "limitations"].append(item)
            left -= len(encode(item)) + 1
        if left > 60:
            profile["summary"] += " " + self._sentence(random, left)

    def _panel(self, random: Random, record: Record, code: int, left: int) -> int:
        """A comparison of first results under this assessment, and how many characters it has."""
        evaluations = [e for e in self._under.get(code, ()) if self._first[e] < self._first[e + 1]]
        chosen = evaluations[: max(2, min(80, left // 60))]
        if len(chosen) < 2:
            return 0
        better, unit, _, _, _, printed = _METRICS[self._metric(code, 0)]
        panel = {
            "id": f"panel-{_hex(random, 12)}",
            "title": f"{record['name']}: {printed}",
            "protocol_id": record["id"],
            "dataset_id": self._id(self._data[chosen[0]]),
            "metric": self._metric(code, 0),
            "unit": unit,
            "direction": better if better != "unknown" else "higher",
            "result_ids": [self.record_id("result", self._first[e]) for e in chosen],
            "source_ids": record["source_ids"][:1],
            "source_locator": self._locator(random),
            "context": self._sentence(random, 140),
            "caveats": [self._sentence(random, 100)],
            "review": {"method": "automated_source_review", "date": _date(random)},
        }
        record["attributes"]["comparison_panels"] = [panel]
        return len(encode(panel)) + 24

    def _metric(self, assessment: int, place: int) -> str:
        """The metric of the result at `place` of each evaluation under an assessment."""
        start = min(int(self._stir("metric", assessment).expovariate(0.25)), len(_METRIC_KEYS) - 1)
        return _METRIC_KEYS[(start + place * 5) % len(_METRIC_KEYS)]

    # ---- one kind each: what its attributes say ----

    def _result(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes = record["attributes"]
        evaluation = self._evaluation[number]
        place = number - self._first[evaluation]
        metric = self._metric(self._assessment[evaluation], place)
        better, unit, low, high, decimals, printed_name = _METRICS[metric]
        value = random.triangular(low, high, low + 0.7 * (high - low))
        digits = random.randint(18, 40) if random.random() < 0.01 else decimals
        number_text = f"{value:.{decimals}f}"
        if digits != decimals:
            number_text = f"{value:.8f}" + "".join(random.choices("0123456789", k=digits - 8))
        record["name"] = f"{printed_name}, {_TOPICS[evaluation % len(_TOPICS)].replace('-', ' ')}, row {place + 1}"
        attributes["metric"] = metric
        attributes["metric_direction"] = better
        attributes["unit"] = unit
        numeric: str | None = number_text
        printed = number_text
        draw = random.random()
        if draw < 0.03:
            percent = "%" if unit == "percent" else "*"
            forms = (
                f"{number_text}{percent}",
                f"r = {number_text}",
                f"~{number_text}",
                f"{number_text}†",
                f"{number_text} ",
            )
            printed = random.choice(forms)
        elif draw < 0.05:
            spread = 0.03 * (high - low)
            printed = f"{value - spread:.{decimals}f}–{value + spread:.{decimals}f}"
            if random.random() < 0.1:
                numeric = None
        if random.random() < 0.003:
            printed, numeric = random.choice(("n/a", "not converged", "< LOD", "—")), None
        attributes["printed_value"] = printed
        attributes["numeric_value"] = numeric
        if numeric is None:
            missing["numeric_value"] = {"reason": "unreported"}
        if place >= len(_METRIC_KEYS) or random.random() < 0.3:
            attributes["metric_qualifier"] = f"{random.choice(_TOPICS).replace('-', ' ')}, part {place + 1}"
        if random.random() < 0.24:
            attributes["uncertainty"] = _uncertainty(random, value, (high - low) * 0.02, max(decimals, 1))
        elif random.random() < 0.97:
            missing["uncertainty"] = self._reason(random)
        if random.random() < 0.15:
            eligible = random.randint(20, 4_000)
            attributes["coverage"] = {"scored": eligible - random.randint(0, 15), "eligible": eligible}
        if random.random() < 0.12:
            attributes["scored_count"] = random.randint(20, 4_000)
        if random.random() < 0.1:
            attributes["unit_detail"] = f"{unit} as the column head prints it"
        if random.random() < 0.1:
            attributes["raw_xml_value"] = f'<td align="char">{printed.strip() or "0"}</td>'
        if random.random() < 0.45:
            attributes["aggregation"] = random.choice(
                ("mean over folds", "median over targets", "single run", "micro average")
            )
        attributes["source_locator"] = self._locator(random)
        attributes["review"] = self._review(random)

    def _evaluate(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes = record["attributes"]
        attributes["origin"] = self._origin(number)
        topic = _TOPICS[number % len(_TOPICS)].replace("-", " ")
        record["name"] = f"{_name(self._stir('name', self._system[number]))} on {topic}, setting {number % 90 + 1}"
        table = self._stir("table", self._paper[number], self._assessment[number])
        comparison: Attributes = {}
        for key in _COMPARISON:
            draw = random.random()
            if draw < 0.6:
                if key == "protocol_id":
                    comparison[key] = self._id(self._assessment[number])
                elif key == "inputs" and table.random() < 0.2:
                    comparison[key] = '{"gene_selection":"top 500","flank":' + str(table.randint(1, 9)) + "}"
                else:
                    comparison[key] = self._sentence(table, table.randint(20, 60))
            elif draw < 0.85:
                comparison[key] = "unreported"
            else:
                missing[f"comparison.{key}"] = self._reason(random)
                if random.random() < 0.05:
                    comparison[key] = None
        if random.random() < 0.08:
            comparison["subset"] = f"part {table.randint(1, 12)}"
        attributes["comparison"] = comparison
        if random.random() < 0.6:
            attributes["protocol"] = self._sentence(table, 50)
        if random.random() < 0.25:
            attributes["seeds"] = f"{random.randint(1, 10)} seeds"
        if random.random() < 0.15:
            attributes["inference_hardware"] = random.choice(("One accelerator with 80 GB", "CPU, 32 threads"))
        if random.random() < 0.1:
            attributes["eligible_count"] = random.randint(20, 9_000)
        attributes["source_locator"] = self._locator(random)
        if random.random() < 0.2:
            attributes["review"] = self._review(random)

    def _configuration(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes = record["attributes"]
        name = _name(self._stir("name", _code("configuration", number)))
        record["name"] = f"{name} [submission {_hex(random, 16)}]" if random.random() < 0.6 else f"{name} (fine-tuned)"
        if random.random() < 0.8:
            attributes["reported_name"] = name
        else:
            missing["reported_name"] = self._reason(random)
        if random.random() < 0.9:
            attributes["source_locator"] = self._locator(random)
        else:
            missing["source_locator"] = self._reason(random)
        attributes["reported_configuration"] = record["name"]
        if random.random() < 0.15:
            attributes["hardware"] = {"gpu": "one accelerator", "memory_gb": random.choice((24, 40, 80)), "nodes": 1}
        if random.random() < 0.1:
            attributes["checkpoint"] = f"step-{random.randint(1, 400)}k"
        if random.random() < 0.1:
            attributes["hyperparameters"] = (
                f"learning rate {random.randint(1, 9)}e-5, batch {2 ** random.randint(3, 9)}"
            )
        if random.random() < 0.25:
            attributes["review"] = self._review(random)

    def _source(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes = record["attributes"]
        topic = random.choice(_TOPICS)
        record["name"] = f"{_name(random)}: {topic.replace('-', ' ')} at scale ({random.randint(2019, 2026)})"
        site = f"papers{random.randint(1, 40)}.example.org"
        attributes["url"] = f"https://{site}/{topic}/{_hex(random, 10)}"
        if random.random() < 0.95:
            attributes["version"] = random.choice(("preprint version 1", "journal full text", "repository snapshot"))
        else:
            missing["version"] = self._reason(random)
        date = _date(random, 2025)  # reviews are of 2026
        attributes["retrieved_at"] = date if random.random() < 0.3 else f"{date}T{random.randint(10, 23)}:05:33Z"
        if random.random() < 0.92:
            attributes["artifact_url"] = f"https://{site}/files/{_hex(random, 12)}.csv"
            attributes["artifact_sha256"] = _hex(random, 64)
        if random.random() < 0.5:
            attributes["doi"] = f"10.{random.randint(90000, 99999)}/{topic}.{_hex(random, 6)}"
            attributes["publication_status"] = random.choice(("peer_reviewed", "preprint", "official_project_source"))
            attributes["hash_scope"] = "the file as it was retrieved"
        if random.random() < 0.25:
            attributes["licence"] = random.choice(("CC-BY-4.0", "CC0-1.0", "MIT"))
            attributes["media_type"] = "text/csv"
        if number % 33 == 16:
            attributes["evidence_concerns"] = [self._concern(random, record) for _ in range(1 + number % 2)]

    def _concern(self, random: Random, record: Record) -> Attributes:
        return {
            "source_id": record["id"],
            "message": self._sentence(random, 110),
            "source_locator": self._locator(random),
            "artifact_sha256": _hex(random, 64),
            "reviewed_at": _date(random),
            "review_method": "automated-source-review",
        }

    def _claim(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes = record["attributes"]
        draw = _spread(number)
        if draw < 93 / 1_333:
            self._judge(record, random)
        elif draw < 333 / 1_333:
            kind = random.choice(("configuration", "dataset", "model", "protocol", "task"))
            subject = random.randrange(self.counts[kind])
            about = self.record(kind, subject)
            texts = [key for key, value in about["attributes"].items() if isinstance(value, str)]
            key = random.choice(texts) if texts else "version"
            value = about["attributes"].get(key, "1.0")
            attributes["field"] = key
            attributes["value"] = self._sentence(random, 30) if random.random() < 0.1 else value
            record["links"] = [{"relation": "subject", "target_id": about["id"]}]
        else:
            kind, subject, relation, target = self._linking(random)
            attributes["field"] = f"links:{relation}:{target}"
            attributes["target_id"] = target
            record["links"] = [{"relation": "subject", "target_id": self.record_id(kind, subject)}]
        record["name"] = f"{_name(random)}: {attributes['field'].split(':')[0].replace('_', ' ')}"
        attributes["source_locator"] = self._locator(random)
        attributes["review"] = self._review(random)

    def _linking(self, random: Random) -> tuple[str, int, str, str]:
        """(kind, number, relation, target id) of a link that a claim can verify."""
        while True:
            kind = _weighted(
                random, (("configuration", 6), ("protocol", 2), ("task", 2), ("model", 1), ("pipeline", 1))
            )
            number = random.randrange(self.counts[kind])
            for relation, code in self.links(kind, number):
                if relation in _VERIFIED:
                    return kind, number, relation, self._id(code)
            if self.size < 0.01:  # so few records may hold no such link
                return "evaluation", 0, "system", self._id(self._system[0])

    def _judge(self, record: Record, random: Random) -> None:
        """A judgement whether a protocol answers a question, with the fingerprints of its evidence."""
        attributes = record["attributes"]
        case = random.randrange(self.counts["use_case"])
        _, code = random.choice(self.links("use_case", case))
        record["links"] = [{"relation": "subject", "target_id": self.record_id("use_case", case)}]
        evaluations = random.sample(range(self.counts["evaluation"]), min(40, self.counts["evaluation"]))
        attributes["field"] = f"links:assessed_by:{self._id(code)}"
        attributes["target_id"] = self._id(code)
        attributes["endpoint"] = self._sentence(random, 120)
        attributes["relevance"] = random.choice(("direct", "proxy", "outside_scope"))
        attributes["rationale"] = self._sentence(random, 500)
        attributes["constraints"] = [self._sentence(random, 120) for _ in range(3)]
        attributes["reviewed_evaluations"] = [self.record_id("evaluation", number) for number in evaluations]
        attributes["revision"] = random.randint(1, 5)
        left = int(random.triangular(13_000, 27_000, 20_000))
        pins: list[Attributes] = []
        while left > 0:
            number = evaluations[len(pins) % len(evaluations)]
            pin = {"record_id": self.record_id("evaluation", number), "fields": ["attributes.comparison", "source_ids"],
                   "sha256": _hex(random, 64)}  # fmt: skip
            pins.append(pin)
            left -= len(encode(pin)) + 1
        attributes["pins"] = pins

    def _data_record(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes = record["attributes"]
        is_subset = record["kind"] == "dataset_subset"
        part = f", part {number % 40}" if is_subset else ""
        record["name"] = f"{random.choice(_TOPICS).replace('-', ' ').capitalize()} set {_name(random)}{part}"
        if random.random() < 0.8:
            attributes["version"] = f"{random.randint(2019, 2026)}-{random.randint(1, 12):02}"
        else:
            missing["version"] = self._reason(random)
        if random.random() < 0.5:
            attributes["split"] = random.choice(("held-out chromosomes", "random 80/10/10", "by sequence identity"))
        if not is_subset:
            attributes["reported_name"] = record["name"]
            if random.random() < 0.6:
                attributes["species"] = random.choice(("human", "mouse", "yeast", "several"))
            if random.random() < 0.3:
                attributes["total"] = random.randint(100, 90_000)
            if random.random() < 0.2:
                attributes["reported_population"] = {"count": random.randint(100, 9_000), "unit": "variants"}
        elif random.random() < 0.4:
            attributes["scored_count"] = random.randint(20, 9_000)
        attributes["source_locator"] = self._locator(random)

    def _system_record(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes, kind = record["attributes"], record["kind"]
        record["name"] = _name(self._stir("name", _code(kind, number)))
        if kind == "model":
            attributes["entity_level"] = "family" if random.random() < 0.7 else "checkpoint"
            if random.random() < 0.3:
                attributes["licence"] = random.choice(("Apache-2.0", "MIT", "non-commercial"))
            attributes["identity_scope"] = "Family identity only; no checkpoint is inferred."
        attributes["reported_name"] = record["name"]
        if kind == "service":
            attributes["access"] = self._sentence(random, 90)
            return
        if kind == "method":
            attributes["family_label"] = random.choice(_TOPICS).replace("-", " ")
        attributes["source_locator"] = self._locator(random)
        if random.random() < 0.3:
            attributes["review"] = self._review(random)

    def _assessment_record(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes, kind = record["attributes"], record["kind"]
        topic = random.choice(_TOPICS).replace("-", " ")
        record["name"] = f"{_name(random)} {topic} {kind} {number}"
        metric = self._metric(_code(kind, number), 0)
        better, unit = _METRICS[metric][:2]
        if kind == "benchmark":
            attributes["entity_level"] = "suite" if random.random() < 0.8 else "challenge"
            attributes["task"] = topic
        else:
            attributes["task"] = topic
        if kind in ("task", "protocol"):
            attributes["metric"] = metric
            attributes["metric_direction"] = better
        if kind == "protocol":
            attributes["procedure"] = self._sentence(random, 120)
            if random.random() < 0.8:
                attributes["unit"] = unit
        if kind != "evaluator":
            attributes["source_locator"] = self._locator(random)

    def _baseline(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes = record["attributes"]
        record["name"] = f"{random.choice(_TOPICS).replace('-', ' ').capitalize()} reference {number}"
        attributes["applicability"] = "proposed" if random.random() < 0.7 else "source_supported"
        attributes["baseline_type"] = random.choice(("mechanistic", "null_control", "simple_statistical"))
        attributes["requirements"] = self._sentence(random, 80)
        attributes["source_locator"] = self._locator(random)

    def _use_case(self, record: Record, random: Random, number: int, missing: Entries) -> None:
        attributes = record["attributes"]
        topic = _TOPICS[number % len(_TOPICS)]
        record["name"] = f"Choose a method for {topic.replace('-', ' ')} ({number})"
        attributes["slug"] = f"{topic}-{number}"
        attributes["question"] = f"Which system answers for {topic.replace('-', ' ')} on new data?"
        attributes["decision"] = self._sentence(random, 180)
        for key in ("intended_users", "inputs", "exclusions", "evidence_gaps", "search_terms"):
            attributes[key] = [self._sentence(random, 120) for _ in range(random.randint(2, 6))]
        attributes["output"] = self._sentence(random, 120)
        attributes["clinical_scope"] = "Research only."
        attributes["citation_locators"] = [{"source_id": record["source_ids"][0], "locator": self._locator(random)}]
        attributes["review"] = self._review(random)

    # ---- older shapes and unknown keys ----

    def _unusual(self, random: Random, record: Record) -> None:
        """Write 3% of records in an older shape, and give 0.2% a key that is not known."""
        if random.random() < 0.03:
            _age(random, record)
        if random.random() < 0.002:
            attributes = record["attributes"]
            draw = random.random()
            if record["kind"] == "result" and draw < 0.35 and "unit" in attributes:
                attributes["unit"] = "kilobase-per-hour"
            elif record["kind"] == "result" and draw < 0.7 and "metric" in attributes:
                attributes["metric"] = "boundary-overlap-score"
            else:
                attributes["lane_assignment"] = f"lane {random.randint(1, 8)}"


_Builder = Callable[[Catalogue, Record, Random, int, Entries], None]
_BUILDERS: Final[dict[str, _Builder]] = {
    "result": Catalogue._result,
    "evaluation": Catalogue._evaluate,
    "configuration": Catalogue._configuration,
    "source": Catalogue._source,
    "claim": Catalogue._claim,
    "dataset": Catalogue._data_record,
    "dataset_subset": Catalogue._data_record,
    "baseline": Catalogue._baseline,
    "use_case": Catalogue._use_case,
    **dict.fromkeys(("model", "method", "pipeline", "service"), Catalogue._system_record),
    **dict.fromkeys(("task", "protocol", "benchmark", "evaluator"), Catalogue._assessment_record),
}
#: Where a kind without a scope_note keeps what fills it up.
_NOTE_KEYS: Final = {
    "model": "training_data", "method": "identity_scope", "pipeline": "parameters", "service": "access",
    "configuration": "limitations", "dataset_subset": "limitations", "evaluation": "limitations",
    "claim": "limitations", "use_case": "evidence_gaps", "evaluator": "scope_note",
}  # fmt: skip


def _generator(*key: object) -> Random:
    """Random numbers that the key alone decides."""
    digest = blake2b(" ".join(map(str, key)).encode(), digest_size=8).digest()
    return Random(int.from_bytes(digest, "big"))  # noqa: S311 - made-up data, no secret


def _code(kind: str, number: int) -> int:
    return _NAMES.index(kind) * _STEP + number


def _spread(number: int) -> float:
    """A number from 0 to 1 for each number, so that any first few of them lie evenly (golden section)."""
    return (number * 0.618_033_988_7 + 0.5) % 1


def _weighted(random: Random, choices: tuple[tuple[str, int], ...]) -> str:
    draw = random.random() * sum(weight for _, weight in choices)
    for name, weight in choices:
        draw -= weight
        if draw < 0:
            return name
    return choices[-1][0]


def _share(draw: float, shares: tuple[tuple[str, float], ...]) -> str:
    """The name whose share `draw` (0-1) falls into; the last one takes the rest."""
    for name, share in shares:
        draw -= share
        if draw < 0:
            return name
    return shares[-1][0]


def _hex(random: Random, length: int) -> str:
    return f"{random.getrandbits(4 * length):0{length}x}"


def _date(random: Random, year: int = 2026) -> str:
    return f"{year}-{random.randint(1, 10):02}-{random.randint(1, 28):02}"


def _name(random: Random) -> str:
    """The invented name of a system."""
    syllables = _SYLLABLES.split()
    word = "".join(random.choice(syllables) for _ in range(random.randint(2, 3))).capitalize()
    is_sized = random.random() < 0.5
    return f"{word}-{random.choice((8, 35, 110, 150, 650))}M" if is_sized else f"{word}{random.randint(1, 4)}"


def _prose(random: Random) -> str:
    """Invented sentences, 300,000 characters of them; records take slices."""
    sentences: list[str] = []
    length = 0
    while length < 300_000:
        parts = random.choice(_SUBJECTS), random.choice(_PREDICATES), random.choice(_ADJUNCTS)
        sentences.append(f"{' '.join(parts)}.")
        length += len(sentences[-1]) + 1
    return " ".join(sentences)


def _uncertainty(random: Random, value: float, spread: float, decimals: int) -> Attributes:
    """72% standard deviation, 17% confidence interval, 9% unresolved, 2% standard error, a few credible intervals."""
    draw = random.random()
    digits = decimals + 1
    size = f"{spread * (0.5 + random.random()):.{digits}f}"
    low, high = f"{value - float(size):.{digits}f}", f"{value + float(size):.{digits}f}"
    if draw < 0.17:
        kind = "credible_interval" if draw < 0.003 else "confidence_interval"
        found: Attributes = {"type": kind, "lower": low, "upper": high, "level": 0.95}
        if random.random() < 0.5:
            found |= {"method": "bootstrap", "resamples": random.choice((200, 1_000))}
        return found
    kind = _share(draw - 0.17, (("standard_deviation", 0.72), ("unresolved_spread", 0.09), ("standard_error", 0.02)))
    found = {"type": kind, "value": size, "printed": f"± {size}"}
    if random.random() < 0.4:
        found["n"] = random.choice((3, 5, 10))
    return found


def _age(random: Random, record: Record) -> None:
    """Rewrite a record into a shape that was used earlier. Source: contract section 10."""
    attributes, kind = record["attributes"], record["kind"]
    ways: list[str] = ["scaffolding"]
    ways += ["missing"] * 2 * ("missing_metadata" in attributes) + ["review"] * ("review" in attributes)
    ways += ["coverage"] * ("coverage" in attributes) + ["uncertainty"] * 2 * ("uncertainty" in attributes)
    ways += ["links"] * 3 * (kind in ("evaluation", "configuration")) + ["names"] * 3 * (kind == "source")
    ways += ["null"] * (kind in ("result", "evaluation") and "split" not in attributes)
    way = random.choice(ways)
    if way == "missing":
        words = ("unreported", "unextracted", "Not stated in the table.", "not established from the source")
        attributes["missing_metadata"] = {key: random.choice(words) for key in attributes["missing_metadata"]}
    elif way == "review":
        review = attributes["review"]
        review["method"] = review["method"][0]
        if "reviewer" in review:
            review["actor"] = review.pop("reviewer")[0]
        review["reviewed_at"] = review.pop("date")
    elif way == "coverage":
        attributes["coverage"] = f"{attributes['coverage']['scored']} / {attributes['coverage']['eligible']}"
    elif way == "uncertainty":
        found = attributes["uncertainty"]
        if "lower" in found:
            attributes["uncertainty"] = f"95% CI {found['lower']}–{found['upper']}"
        else:
            attributes["uncertainty"] = {"kind": found["type"], "reported_spread": found["value"]}
    elif way == "links":
        for link in record["links"]:
            if link["relation"] == "configuration_of":
                link["relation"] = "variant_of"
            elif link["relation"] == "data":
                link["relation"] = "dataset"
            elif link["relation"] == "system":
                link["relation"] = "model"
            elif link["relation"] == "assessment":
                link["relation"] = "benchmark"
    elif way == "names":
        for new, old in (("licence", "license"), ("artifact_sha256", "sha256"), ("source_locator", "locator")):
            if new in attributes:
                attributes[old] = attributes.pop(new)
    elif way == "null":
        attributes["split"] = None
    else:
        attributes["legacy_row"] = random.randint(1, 9_000)


# ---- faults ----


def _set(*path: str, to: Any) -> Callable[[Record], None]:
    """Write a value at a path of the record, and remove the entry that says it is missing."""

    def change(record: Record) -> None:
        place: Any = record
        for step in path[:-1]:
            place = place.setdefault(step, {})
        place[path[-1]] = to
        _unexplain(record, path[1:])

    return change


def _drop(*path: str) -> Callable[[Record], None]:
    """Remove what is at a path of the record, and the entry that would explain it."""

    def change(record: Record) -> None:
        place: Any = record
        for step in path[:-1]:
            place = place[step]
        place.pop(path[-1], None)
        _unexplain(record, path[1:])

    return change


def _unexplain(record: Record, path: Sequence[str]) -> None:
    entries = record["attributes"].get("missing_metadata", {})
    entries.pop(".".join(path), None)
    if not entries:
        record["attributes"].pop("missing_metadata", None)


def _both(record: Record) -> None:
    record["attributes"]["uncertainty"] = {"type": "standard_deviation", "value": "0.01"}
    record["attributes"].setdefault("missing_metadata", {})["uncertainty"] = {"reason": "unreported"}


def _relink(relation: str, to: str | None) -> Callable[[Record], None]:
    """Rename a link's relation, or remove the link."""

    def change(record: Record) -> None:
        kept = [link for link in record["links"] if link["relation"] != relation]
        if to is not None:
            kept += [{**link, "relation": to} for link in record["links"] if link["relation"] == relation]
        record["links"] = kept

    return change


#: (rule that finds it, kind, field as the rule reports it, change). Each gives exactly one violation.
FAULTS: Final[tuple[tuple[str, str, str, Callable[[Record], None]], ...]] = (
    ("result-unit", "result", "attributes.unit", _drop("attributes", "unit")),
    ("evaluation-origin-known", "evaluation", "attributes.origin", _set("attributes", "origin", to="blog_post")),
    ("configuration-reported-name", "configuration", "attributes.reported_name", _drop("attributes", "reported_name")),
    ("claim-subject", "claim", "links", _relink("subject", None)),
    ("source-url-public", "source", "attributes.url", _set("attributes", "url", to="http://localhost/paper")),
    ("result-numeric-value-format", "result", "attributes.numeric_value",
     _set("attributes", "numeric_value", to="0,91")),
    ("unknown-id", "evaluation", "source_ids.0", _set("source_ids", to=["no-such-source"])),
    ("value-and-reason", "result", "attributes.uncertainty", _both),
    ("evaluation-comparison-split", "evaluation", "attributes.comparison.split",
     _drop("attributes", "comparison", "split")),
    ("record-status-known", "configuration", "status", _set("status", to="looked_at")),
    ("review-date-format", "result", "attributes.review.date",
     _set("attributes", "review", to={"method": ["transcription"], "date": "2026-13-40"})),
    ("source-retrieved-at", "source", "attributes.retrieved_at", _drop("attributes", "retrieved_at")),
    ("evaluation-data", "evaluation", "links", _relink("data", None)),
    ("coverage-scored-range", "result", "attributes.coverage.scored",
     _set("attributes", "coverage", to={"scored": -3, "note": "as read"})),
    ("missing-entry-reason-known", "configuration", "attributes.missing_metadata.runtime",
     _set("attributes", "missing_metadata", "runtime", to={"reason": "forgotten"})),
    ("envelope", "claim", "description", _drop("description")),
    ("result-metric-direction-known", "result", "attributes.metric_direction",
     _set("attributes", "metric_direction", to="upward")),
    ("source-doi-format", "source", "attributes.doi", _set("attributes", "doi", to="https://doi.org/10.99999/x")),
    ("unknown-key", "evaluation", "comment", _set("comment", to="see the table")),
    ("uncertainty-spread-value", "result", "attributes.uncertainty",
     _set("attributes", "uncertainty", to={"type": "standard_deviation", "printed": "± ?"})),
)  # fmt: skip


_SPOILT: Final = frozenset(kind for _, kind, _, _ in FAULTS)


def plant(catalogue: Catalogue, count: int) -> dict[tuple[str, int], int]:
    """(kind, number) of each record to spoil -> the index of its fault; faults take turns.

    Raises: ValueError: the catalogue is too small for so many faults.
    """
    random = _generator(catalogue.seed, "faults")
    left = {kind: random.sample(range(n), n) for kind, n in catalogue.counts.items() if kind in _SPOILT}
    if count > sum(map(len, left.values())):
        raise ValueError(f"size {catalogue.size} has too few records for {count} faults")
    chosen: dict[tuple[str, int], int] = {}
    for fault in itertools.cycle(range(len(FAULTS))):
        if len(chosen) == count:
            break
        kind = FAULTS[fault][1]
        if left[kind]:
            chosen[kind, left[kind].pop()] = fault
    return chosen


def write(catalogue: Catalogue, out: Path, faults: int = 0) -> dict[str, tuple[int, int]]:
    """Write a catalogue as JSON Lines, and its faults beside it; kind -> (records, characters).

    Raises: ValueError: the catalogue is too small for so many faults.
    """
    planted = plant(catalogue, faults)
    order = [
        f"{catalogue.record_id(kind, number)}\t{_NAMES.index(kind)}\t{number}"
        for kind, count in catalogue.counts.items()
        for number in range(count)
    ]
    order.sort()  # a tab comes before every character of an id
    totals = dict.fromkeys(KINDS, (0, 0))
    listed: list[str] = []
    with out.open("w", encoding="utf-8", newline="\n", buffering=1 << 20) as stream:
        for entry in order:
            record_id, kind_number, place = entry.split("\t")
            kind, number = _NAMES[int(kind_number)], int(place)
            fault = planted.get((kind, number))
            record = catalogue.record(kind, number, plain=fault is not None)
            if fault is not None:
                FAULTS[fault][3](record)
                listed.append(f"{record_id}\t{FAULTS[fault][0]}\t{FAULTS[fault][2]}\n")
            line = encode(record)
            stream.write(line + "\n")
            records, characters = totals[kind]
            totals[kind] = records + 1, characters + len(line)
    list_file = out.with_name(f"{out.name.removesuffix('.jsonl')}.faults.tsv")
    if faults:
        list_file.write_text("".join(["record\trule\tfield\n", *listed]), encoding="utf-8", newline="\n")
    else:
        list_file.unlink(missing_ok=True)
    return totals


def main() -> None:
    """Write a synthetic catalogue and say what is in it."""
    parser = argparse.ArgumentParser(description="Write a synthetic catalogue as JSON Lines.")
    parser.add_argument("--size", type=float, required=True, help="1 is 28,700 records and 52 MB")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--faults", type=int, default=0, help="how many faults to plant (count)")
    options = parser.parse_args()
    if options.size <= 0 or options.faults < 0:
        parser.error("--size must be above 0, --faults not below")
    start = time.perf_counter()
    try:
        totals = write(Catalogue(options.size, options.seed), options.out, options.faults)
    except ValueError as error:
        parser.error(str(error))
    print("kind             records  mean characters  wanted", file=sys.stderr)
    for kind, (records, characters) in totals.items():
        print(f"{kind:15} {records:8,} {characters / max(records, 1):16,.0f} {KINDS[kind][1]:7,}", file=sys.stderr)
    records = sum(count for count, _ in totals.values())
    seconds = time.perf_counter() - start
    size = options.out.stat().st_size / 1e6
    print(f"{records:,} records, {size:.2f} MB, {seconds:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
