"""The pipeline that everyone writes: records → JSON-LD → PyLD → rdflib → owlrl → pySHACL → N-Quads.

`same_stack.py DATASET --out DIR` writes graph.nq, closure.nt, report.ttl and findings.tsv, and prints the seconds of
each stage and the largest resident set (MB) as JSON. It is the yardstick for `evkg build`: the same records, JSON-LD,
ontology and shapes in, the same asserted graph and the same findings (focus node, shape, severity) out; `agreement.py`
compares them. The libraries are used as their documentation shows, each option commented where there was a choice. What
evkg does beyond that (keys and references, files of a release, the store) is not done here, so the comparison favours
this side.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import owlrl
import pyshacl
import rdflib
from pyld import jsonld
from rdflib import RDF, RDFS, SH, SKOS

from evkg.convert import Converter
from evkg.dataset import Dataset
from evkg.description import read_description
from evkg.finding import Finding
from evkg.neighbours import withdraw
from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import Vocabulary, data_folder, load_vocabulary


class Clock:
    """Wall and processor seconds of each stage; on a busy machine the second tells more."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.processor: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        print(f"{name} …", file=sys.stderr)
        start, worked = time.perf_counter(), time.process_time()
        yield
        self.seconds[name] = round(time.perf_counter() - start, 3)
        self.processor[name] = round(time.process_time() - worked, 3)


def read(path: Path, vocabulary: Vocabulary, withheld: Container[str]) -> list[Record]:
    """The records, of withdrawn ones what stays public; what could not be read cannot become a graph."""
    records = [item for item in read_records(path, vocabulary) if not isinstance(item, Finding)]
    return [withdraw(record) if record.id in withheld else record for record in records]


def documents(records: Iterable[Record], vocabulary: Vocabulary, base: str) -> list[dict[str, Any]]:
    """The JSON-LD of each record with its context inside, as evkg publishes it: no loader is asked for anything."""
    converter = Converter(vocabulary, base)
    return [converter.record_to_jsonld(record) for record in records]


def parse(found: Iterable[dict[str, Any]]) -> rdflib.Dataset:
    """All documents in one rdflib Dataset, a named graph each.

    PyLD gives its RDF either as N-Quads text or as plain dicts. The dicts save rdflib's N-Quads parser, which is the
    slower half of that way round, so a user who looks at a profile once takes them.
    """
    dataset = rdflib.Dataset()
    for document in found:
        for name, triples in jsonld.to_rdf(document).items():
            graph = dataset.default_graph if name == "@default" else dataset.graph(rdflib.URIRef(name))
            # addN hands over a whole document at once.
            graph.addN(
                (term(triple["subject"]), term(triple["predicate"]), term(triple["object"]), graph)
                for triple in triples
            )
    return dataset


def term(value: dict[str, str]) -> rdflib.URIRef | rdflib.BNode | rdflib.Literal:
    """PyLD's term as rdflib's. Without normalize=False rdflib would rewrite literals ("007" as "7")."""
    if value["type"] == "IRI":
        return rdflib.URIRef(value["value"])
    if value["type"] == "blank node":
        return rdflib.BNode(value["value"])
    if "language" in value:
        return rdflib.Literal(value["value"], lang=value["language"])
    if value["datatype"].endswith("XMLSchema#string"):
        return rdflib.Literal(value["value"])
    return rdflib.Literal(value["value"], datatype=rdflib.URIRef(value["datatype"]), normalize=False)


def flat(dataset: rdflib.Dataset, without: frozenset[rdflib.URIRef] = frozenset()) -> rdflib.Graph:
    """The triples of all graphs but some in one graph: pySHACL and owlrl look at one graph, and reading it through a
    union of thousands of graphs costs more than one copy."""
    graph = rdflib.Graph()
    for subject, predicate, value, name in dataset.quads():
        if name not in without:
            graph.add((subject, predicate, value))
    return graph


def ontology() -> rdflib.Graph:
    """The ontology with its schemes and mappings."""
    graph = rdflib.Graph()
    for file in sorted(data_folder("ontology").rglob("*.ttl")):
        graph.parse(file, format="turtle")
    return graph


def close(graph: rdflib.Graph, terms: rdflib.Graph) -> rdflib.Graph:
    """The OWL RL closure of data and ontology, in a graph of its own."""
    closure = rdflib.Graph()
    closure += graph
    closure += terms
    # The axiomatic triples of RDF and the axioms on datatypes say nothing about the data; off is owlrl's default too.
    owlrl.DeductiveClosure(owlrl.OWLRL_Semantics, axiomatic_triples=False, datatype_axioms=False).expand(closure)
    return closure


def validate(graph: rdflib.Graph, terms: rdflib.Graph) -> rdflib.Graph:
    """pySHACL's report on the asserted graph.

    Shapes say what a record must *say*, so they see what is asserted and not the closure, in which everything has a
    type. Of the ontology they need the class tree and which scheme a concept is in.
    """
    shapes = rdflib.Graph()
    for file in sorted(data_folder("shapes").glob("*.ttl")):
        shapes.parse(file, format="turtle")
    needed = rdflib.Graph()
    for predicate in (RDFS.subClassOf, SKOS.inScheme):
        needed += terms.triples((None, predicate, None))
    # inplace saves pySHACL a copy of the data; no inference, since sh:class follows subClassOf by itself.
    graph += needed
    _, report, _ = pyshacl.validate(graph, shacl_graph=shapes, inference="none", inplace=True)
    if not isinstance(report, rdflib.Graph):
        raise SystemExit(f"pySHACL did not report: {report}")
    return report


def findings(report: rdflib.Graph) -> list[tuple[str, str, str]]:
    """(focus node, shape, severity) of each result, sorted and without repeats."""
    found = {
        (str(report.value(node, SH.focusNode)), str(report.value(node, SH.sourceShape)),
         str(report.value(node, SH.resultSeverity)))
        for node in report.subjects(RDF.type, SH.ValidationResult)
    }  # fmt: skip
    return sorted(found)


def run(path: Path, out: Path, *, infer: bool = True) -> dict[str, Any]:
    """Run all stages, write their files into `out`, and return what was measured."""
    clock = Clock()
    out.mkdir(parents=True, exist_ok=True)
    base = read_description(path)[0].base_iri
    vocabulary = load_vocabulary()
    with clock.stage("read"):
        excluded = Dataset(path, vocabulary).withheld
        records = read(path, vocabulary, excluded)
    with clock.stage("JSON-LD"):
        found = documents(records, vocabulary, base)
    with clock.stage("PyLD to rdflib"):
        dataset = parse(found)
        del found
    quads = len(dataset)
    with clock.stage("serialise"):
        # N-Quads has no order in rdflib; sorted lines are the least that a release needs.
        lines = sorted(dataset.serialize(format="nquads", encoding="utf-8").splitlines(keepends=True))
        (out / "graph.nq").write_bytes(b"".join(line for line in lines if line.strip()))
    withheld = frozenset(rdflib.URIRef(f"{base}record/{record.id}") for record in records if record.id in excluded)
    with clock.stage("flat graph"):
        graph = flat(dataset, withheld)
        terms = ontology()
    del dataset, records, lines
    inferred = 0
    if infer:
        with clock.stage("OWL RL"):
            closure = close(graph, terms)
            inferred = len(closure) - len(graph) - len(terms)
        with clock.stage("serialise closure"):
            closure.serialize(out / "closure.nt", format="nt", encoding="utf-8")
        del closure
    with clock.stage("SHACL"):
        report = validate(graph, terms)
    with clock.stage("report"):
        report.serialize(out / "report.ttl", format="turtle")
        rows = findings(report)
        (out / "findings.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return {
        "quads": quads,
        "inferred": inferred,
        "findings": len(rows),
        "seconds": clock.seconds,
        "processor seconds": clock.processor,
        "total": round(sum(clock.seconds.values()), 3),
        "total processor": round(sum(clock.processor.values()), 3),
        "peak MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    """Run the pipeline on a data set and print what it cost."""
    parser = argparse.ArgumentParser(description="The same work with rdflib, PyLD, owlrl and pySHACL.")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    options = parser.parse_args()
    print(json.dumps(run(options.dataset, options.out), indent=2))


if __name__ == "__main__":
    main()
