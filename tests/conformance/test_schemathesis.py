"""Schemathesis against the description of the interface: no request makes the server fail, and it keeps its word."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from tests.test_serving import server

#: From PyPI: `schemathesis`, in an environment of its own, since it brings a plugin for pytest; tried with 4.32.5.
PROGRAM = shutil.which("schemathesis")
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"


@pytest.mark.long
@pytest.mark.skipif(PROGRAM is None, reason="schemathesis is not installed")
def test_what_is_described_is_what_is_answered(workspace: Path, tmp_path: Path) -> None:
    with server("--release", str(workspace / "build/current"), "--time-limit", "5") as served:
        command = [str(PROGRAM), "run", f"{served.address}/openapi.json", "--url", served.address, "--checks", CHECKS]
        command += ["--max-examples", "25", "--request-timeout", "20", "--seed", "1"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=900, check=False)
        assert done.returncode == 0, done.stdout[-8000:]
        assert httpx.get(f"{served.address}/health").status_code == 200
