"""Other engines for parts of a build: SHACL validators on the same graph, and RML for the mapping.

Each peer lives in an environment of its own below build/peers (`peers.py --install` makes them), since they want
libraries that go together neither with ours nor with each other's. A peer that is not installed is left out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from measuring import Cost, TooLongError, measure

HERE: Final = Path(__file__).resolve().parent
FOLDER: Final = HERE.parent / "build" / "peers"
#: Peer -> what pip installs for it.
PEERS: Final = {
    "morph-kgc": ("morph-kgc==2.10.0",),
    "pyshacl-turbo": ("pyshacl-turbo==0.6.5",),
    "pyshifty": ("pyshifty==0.5.1", "rdflib==7.6.0"),
}
#: Validates DATA against SHAPES (both N-Triples) and prints its seconds, and what it found in a comparable form.
VALIDATE: Final = """
import hashlib, json, logging, sys, time
engine, data, shapes = sys.argv[1:]
logging.disable(logging.CRITICAL)
SH = "http://www.w3.org/ns/shacl#"
start = time.perf_counter()
if engine == "shacl":
    import shacl
    report = shacl.Shapes.from_file(shapes).validate_file(data)
    found = {(r.focus_node[1:-1], (r.source_shape or "")[1:-1], r.severity_iri) for r in report.results}
else:
    import rdflib
    if engine == "pyshifty":
        import shifty
        report = shifty.validate(rdflib.Graph().parse(data), rdflib.Graph().parse(shapes), infer=False)[1]
    elif engine == "pyshacl-turbo":
        import pyshacl_turbo
        report = pyshacl_turbo.validate(data, shacl_graph=shapes, data_graph_format="nt", shacl_graph_format="nt")[1]
    else:
        import pyshacl
        shapes_graph = rdflib.Graph().parse(shapes)
        report = pyshacl.validate(rdflib.Graph().parse(data), shacl_graph=shapes_graph, inplace=True)[1]
    S = rdflib.Namespace(SH)
    found = {
        tuple(str(report.value(node, S[name])) for name in ("focusNode", "sourceShape", "resultSeverity"))
        for node in report.objects(None, S.result)
    }
seconds = time.perf_counter() - start
digest = hashlib.sha256("\\n".join(sorted(map("\\t".join, found))).encode()).hexdigest()
print(json.dumps({"seconds": seconds, "results": len(found), "sha256": digest}))
"""
#: Writes what validators read: the records as N-Triples with the class tree and schemes, and the shapes.
PREPARE: Final = """
import sys
from pathlib import Path
from evkg.convert import Converter
from evkg.dataset import Dataset
from evkg.shapes import Shapes, background
from evkg.vocabulary import load_vocabulary
vocabulary = load_vocabulary()
dataset = Dataset(Path(sys.argv[1]), vocabulary)
converter = Converter(vocabulary, dataset.description.base_iri)
with Path(sys.argv[2]).open("w", encoding="utf-8") as stream:
    stream.writelines(f"{line}\\n" for line in background())
    for record in dataset.read():
        if record.id not in dataset.withheld:
            stream.writelines(f"{triple} .\\n" for triple in converter.record_to_triples(record))
Path(sys.argv[3]).write_text(Shapes().ntriples, encoding="utf-8")
"""
#: Reads a file of records and prints how many triples they have and how long making them took.
CONVERT: Final = """
import json, sys, time
from pathlib import Path
from evkg.convert import Converter
from evkg.reader import read_records
from evkg.record import Record
from evkg.vocabulary import load_vocabulary
vocabulary = load_vocabulary()
start = time.perf_counter()
converter = Converter(vocabulary, "https://w3id.org/evkg/")
records = (item for item in read_records(Path(sys.argv[1]), vocabulary) if isinstance(item, Record))
triples = sum(len(converter.record_to_triples(record)) for record in records)
print(json.dumps({"seconds": time.perf_counter() - start, "triples": triples}))
"""
RML: Final = """
import io, json, logging, sys, time
logging.disable(logging.CRITICAL)
import morph_kgc
start = time.perf_counter()
triples = morph_kgc.materialize_set(sys.argv[1])
print(json.dumps({"seconds": time.perf_counter() - start, "triples": len(triples)}))
"""


def python_of(peer: str) -> str | None:
    """The interpreter that a peer is installed for; None if it is not."""
    if peer not in PEERS:
        return sys.executable
    python = FOLDER / peer / "bin" / "python"
    return str(python) if python.exists() and (FOLDER / peer / "installed").exists() else None


def validators(
    data: Path, folder: Path, limit: float, fewer: bool
) -> Iterator[tuple[str, Cost | None, dict[str, Any]]]:
    """Each validator on the same graph: its name, what it cost (None: not within the limit) and what it found."""
    triples, shapes = folder / "validate.nt", folder / "shapes.nt"
    measure([sys.executable, "-c", PREPARE, str(data), str(triples), str(shapes)])
    for engine in ("shacl", "pyshacl") if fewer else ("shacl", "pyshifty", "pyshacl-turbo", "pyshacl"):
        python = python_of(engine)
        if python is None:
            continue
        try:
            cost = measure([python, "-c", VALIDATE, engine, str(triples), str(shapes)], limit=limit)
        except TooLongError:
            yield engine, None, {}
            continue
        yield engine, cost, json.loads(cost.printed)


def mapping(data: Path, folder: Path) -> Iterator[tuple[str, Cost, dict[str, Any]]]:
    """Who maps records to triples: evkg, and an RML engine with a mapping of the plainest keys (`records.rml.ttl`)."""
    cost = measure([sys.executable, "-c", CONVERT, str(data)])
    yield "evkg, everything in a record", cost, json.loads(cost.printed)
    python = python_of("morph-kgc")
    if python is None:
        return
    records = [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]
    keys = ("id", "kind", "name")
    records = [{**{key: record[key] for key in keys}, **_plain(record["attributes"])} for record in records]
    (folder / "records.json").write_text(json.dumps(records, ensure_ascii=False), encoding="utf-8")
    config = folder / "rml.ini"
    config.write_text(
        "[CONFIGURATION]\nlogging_level=CRITICAL\n"
        f"[Records]\nmappings={HERE / 'records.rml.ttl'}\nfile_path={folder / 'records.json'}\n",
        encoding="utf-8",
    )
    cost = measure([python, "-c", RML, str(config)])
    yield "morph-kgc, eight plain keys", cost, json.loads(cost.printed)


def _plain(attributes: dict[str, Any]) -> dict[str, str]:
    return {key: value for key, value in attributes.items() if isinstance(value, str)}


def install() -> None:
    """Make the environments of all peers; one that cannot be had is left out."""
    for peer, packages in PEERS.items():
        if python_of(peer) is not None:
            continue
        venv.create(FOLDER / peer, with_pip=True, clear=True)
        pip = [str(FOLDER / peer / "bin" / "python"), "-m", "pip", "install", "--quiet", *packages]
        if subprocess.run(pip, check=False).returncode == 0:
            (FOLDER / peer / "installed").touch()


if __name__ == "__main__":
    if sys.argv[1:] != ["--install"]:
        raise SystemExit("peers.py --install makes the environments of the peers.")
    install()
