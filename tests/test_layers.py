"""The architecture: imports go only upwards, heavy libraries load late, one library has one room."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache

import pytest

from tests.builds import ROOT

SOURCE = ROOT / "src/evkg"
#: Every module by layer. A module imports from lower layers, or from its own without a cycle.
LAYERS = (
    ("errors", "namespaces", "finding", "parent"),
    (
        "jsontext",
        "yamltext",
        "filetext",
        "snapshot",
        "rewrite",
        "emptiness",
        "older_parts",
        "older",
        "vocabulary",
        "place",
        "shapes",
        "shapegraph",
        "expected",
        "wanted",
        "scalar",
        "withheld",
        "origin",
        "record",
        "reader",
    ),
    ("literal", "value", "setting", "field", "document", "convert"),
    ("printed", "loosening", "mention", "quantity", "moment", "reviewer", "privacy", "doi", "circle"),
    (
        "content",
        "keys",
        "references",
        "nearest",
        "fact",
        "crossrecord",
        "description",
        "shared",
        "neighbours",
        "partfile",
        "research",
        "dataset",
        *("inference", "axioms", "patterns", "premises", "derive"),
        "sparql",
        "columns",
        "questions",
        "examples",
    ),
    ("excerpt", "recordspan"),
    (
        "soundness",
        "declared",
        "constraint",
        "fieldschema",
        "schema",
        "skeleton",
        "layout",
        "insertion",
        "patch",
        "stub",
        "fast",
        "normative",
        "validate",
        "report",
        "store",
        "runs",
        "batch",
        "pool",
        "verdict",
        "verdicts",
        "cluster",
        "watching",
        "check",
        "answer",
        "manifest",
        "release",
        "describe",
        "asking",
        "publish",
        "writer",
        "draft",
        "build",
        "gaps",
        "specimen",
        "rulebook",
    ),
    (
        "chart_text",
        "chart",
        "lookup",
        "ranking",
        "member",
        "candidate",
        "compare",
        "opened",
        "diff",
        "leaderboard_group",
        "leaderboard",
        "leaderboard_index",
    ),
    (
        "statement",
        "claims",
        "evidence",
        "evidence_table",
        "evidence_index",
        "readiness",
        "exporting",
        "leaderboard_table",
    ),
    ("related", "view", "terminal", "rule", "finding_text", "since", "sarif", "junit", "annotation", "gaps_text"),
    (
        *("measurement", "cell", "measurement_table", "matrix", "conditions", "fieldset", "technical", "trail"),
        *("evidence_section", "contribution", "correction", "scholarly", "signposting"),
    ),
    (
        *("search_text", "facet", "search_document", "search_build", "search_index", "search", "search_view"),
        *("result_table", "reference_entry", "reference_rules", "reference", "reference_docs", "home"),
        "glossary",
        *("rooted", "pages", "record_page", "finding_page", "reporting", "validation_page"),
        *("dotplot", "heatmap", "leaderboard_page", "provenance", "provenance_diagram", "model_diagram"),
    ),
    (
        *("serialization", "bytesize", "lanes", "limits", "rowstream", "worker_process", "worker_nursery"),
        *("parking", "worker_death", "worker_link", "runningquery", "gathering"),
        *("answer_cache", "worker", "single_query", "remote_answer", "remote"),
        "negotiate",
        "problem",
        "etag",
        "outbox",
        *("service", "page_types", "parameters", "endpoint", "download"),
        "graph_store",
        "void",
        "openapi",
        "resource",
        "envelope",
        "compression",
        "assets",
        "evidence_resource",
        "validation_resource",
        "chart_process",
        "chart_renderer",
        "chart_resource",
        "compare_page",
        *(
            "search_service",
            "listing",
            "search_page",
            "results_page",
            "feed",
            "sitemap",
            "reference_page",
            "reference_docs_page",
        ),
        *("answer_table", "answer_layout", "editor_terms", "question_page", "editor_page", "editor_resource"),
        *("question_resource", "question_paths"),
        *("metrics", "hotpath", "server", "access_log", "succession", "patience", "serving", "hosting"),
        "progress",
        "checking",
        "commands",
        "authoring",
        "comparing",
        "changes",
        "completeness",
        "cli",
    ),
)
LAYER = {module: number for number, modules in enumerate(LAYERS) for module in modules}
#: Library -> the modules that may import it.
ROOMS = {
    "yaml": {"yamltext", "layout"},
    "pyshacl": {"normative"},
    "distributed": {"cluster"},
    "shacl": {"fast"},
    # A report is a file of its own without a release, so its page has its own templates.
    "jinja2": {"pages", "finding_page"},
    "oxrdflib": {"release"},
    "pandas": {"answer"},
    "vl_convert": {"chart_process"},
    "argparse": {"cli", "commands", "checking", "authoring", "comparing", "changes", "completeness", "hosting"},
    "fastapi": {
        *("editor_resource", "question_resource", "question_paths"),
        *("search_page", "results_page", "feed", "sitemap", "reference_page", "reference_docs_page"),
        "assets",
        "chart_resource",
        "compare_page",
        "server",
        "serving",
        "metrics",
        "endpoint",
        *("graph_store", "download"),
        "void",
        "openapi",
        "resource",
        "evidence_resource",
        "validation_resource",
    },
    "starlette": {
        *("editor_resource", "question_resource"),
        *(
            "server",
            "endpoint",
            "graph_store",
            "download",
            "void",
            "resource",
            "evidence_resource",
            "validation_resource",
        ),
        *("listing", "search_page", "results_page", "feed", "sitemap", "reference_page", "reference_docs_page"),
        *(
            "assets",
            "chart_resource",
            "compare_page",
            "envelope",
            *("hotpath", "metrics", "succession"),
            "compression",
            "problem",
            "etag",
            "outbox",
        ),
    },
    "uvicorn": {"patience", "serving"},
    "prometheus_client": {"metrics"},
    "multipart": {"endpoint", "server"},
}
#: The normative oracles: used by tests only.
ORACLES = ("pyld", "owlrl")
HEAVY = (
    *ORACLES,
    "rdflib",
    "pyshacl",
    "fastapi",
    "starlette",
    "uvicorn",
    "pyoxigraph",
    "oxrdflib",
    "jinja2",
    "yaml",
    "vl_convert",
    "distributed",
)
#: As long as a module may be (lines).
LONGEST = 320


@cache
def tree(module: str) -> ast.Module:
    return ast.parse((SOURCE / f"{module}.py").read_text(encoding="utf-8"))


def modules() -> list[str]:
    return sorted(file.stem for file in SOURCE.glob("*.py"))


@cache
def imports(module: str) -> frozenset[str]:
    """Every module that a module imports anywhere, also inside functions and for types only."""
    found: set[str] = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module} has a relative import"
            name = node.module or ""
            found.update(f"evkg.{alias.name}" for alias in node.names) if name == "evkg" else found.add(name)
    return frozenset(found)


def own_imports(module: str) -> set[str]:
    return {name.split(".")[1] for name in imports(module) if name.startswith("evkg.")}


def test_every_module_has_a_layer() -> None:
    assert set(modules()) - {"__init__"} == set(LAYER)


@pytest.mark.parametrize("module", [name for name in modules() if name != "__init__"])
def test_imports_go_only_upwards(module: str) -> None:
    below = {name: LAYER[name] for name in own_imports(module)}
    assert {name for name, layer in below.items() if layer > LAYER[module]} == set()


def test_no_import_goes_round_in_a_circle() -> None:
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"import cycle: {' → '.join((*path[path.index(module) :], module))}"
        if module not in done:
            for name in sorted(own_imports(module)):
                visit(name, (*path, module))
            done.add(module)

    for module in modules():
        visit(module, ())


def test_the_lowest_layer_imports_nothing_of_evkg() -> None:
    assert {module: own_imports(module) for module in LAYERS[0]} == {module: set() for module in LAYERS[0]}


@pytest.mark.parametrize("library", ROOMS)
def test_a_library_is_imported_only_in_its_room(library: str) -> None:
    users = {m for m in modules() if any(name.split(".")[0] == library for name in imports(m))}
    assert users <= ROOMS[library]


@pytest.mark.parametrize("library", ORACLES)
def test_the_oracles_are_imported_by_tests_only(library: str) -> None:
    assert [m for m in modules() if any(name.split(".")[0] == library for name in imports(m))] == []


@pytest.mark.parametrize(
    "code",
    [
        "import evkg",
        "import evkg; evkg.EvkgError, evkg.Finding, dir(evkg)",
        "import evkg.cli; evkg.cli.make_parser()",
        "import contextlib, evkg.cli\nwith contextlib.suppress(SystemExit): evkg.cli.main(['--help'])",
        "import contextlib, evkg.cli\nwith contextlib.suppress(SystemExit): evkg.cli.main(['build', '--help'])",
        "import contextlib, evkg.cli\nwith contextlib.suppress(SystemExit): evkg.cli.main(['--version'])",
    ],
)
def test_heavy_libraries_load_only_when_they_are_used(code: str) -> None:
    program = f"import sys\n{code}\nprint(sorted(set(sys.modules) & set({HEAVY!r})))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("module", modules())
def test_no_module_is_long(module: str) -> None:
    lines = (SOURCE / f"{module}.py").read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST


@pytest.mark.parametrize("module", modules())
def test_every_module_says_what_it_is(module: str) -> None:
    assert ast.get_docstring(tree(module))
    assert module.split("_")[0] not in ("utils", "util", "common", "helpers", "api", "base", "misc")


def broad_handlers(module: str) -> list[ast.ExceptHandler]:
    """Handlers of everything: `except:`, `except Exception`, `except BaseException`."""
    return [
        node
        for node in ast.walk(tree(module))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or {getattr(n, "id", "") for n in ast.walk(node.type)} & {"Exception", "BaseException"})
    ]


@pytest.mark.parametrize("module", modules())
def test_everything_is_caught_only_where_a_comment_says_why(module: str) -> None:
    lines = (SOURCE / f"{module}.py").read_text(encoding="utf-8").splitlines()
    for handler in broad_handlers(module):
        last = handler.body[-1]
        if module == "server" or (isinstance(last, ast.Raise) and last.exc is None):
            continue  # the outermost handler; or it tidies up and raises the same again
        around = lines[handler.lineno - 2 : (handler.body[0].end_lineno or handler.lineno)]
        assert any("#" in line for line in around), f"{module}:{handler.lineno}"


def test_no_module_prints_but_the_commands() -> None:
    printing = {
        module
        for module in modules()
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert printing <= {
        "commands",
        "checking",
        "progress",
        "cli",
        "serving",
        "authoring",
        "comparing",
        "changes",
        "completeness",
    }


def test_nothing_but_tests_asserts_what_a_user_could_break() -> None:
    asserting = {m for m in modules() for node in ast.walk(tree(m)) if isinstance(node, ast.Assert)}
    for module in asserting:
        lines = (SOURCE / f"{module}.py").read_text(encoding="utf-8").splitlines()
        for node in ast.walk(tree(module)):
            if isinstance(node, ast.Assert):
                assert "# noqa: S101 - " in lines[node.lineno - 1], f"{module}:{node.lineno}"
