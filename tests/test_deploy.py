"""What docs/deploy.md shows is what works: the container's build, and nginx before the server."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


def copied() -> list[str]:
    """The files and folders of the checkout that the Containerfile copies."""
    (text,) = re.findall(r"^```dockerfile\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [word for line in re.findall(r"^COPY ([^-].*) \S+$", text, re.MULTILINE) for word in line.split()]


def test_the_containerfile_copies_all_that_a_wheel_is_made_of() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = {*project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"], "src", "requirements.lock"}
    assert wanted - {*copied()} == set()


@pytest.mark.long
def test_a_wheel_can_be_built_of_what_the_containerfile_copies(tmp_path: Path) -> None:
    context = tmp_path / "context"
    context.mkdir()
    for name in copied():
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, context / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, context / name)
    command = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    done = subprocess.run(command, cwd=context, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("evkg-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"evkg/cli.py", "evkg/_data/docs/deploy.md", "evkg/_data/CHANGELOG.md"} <= {*names}


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_one_that_systemd_reads_and_finds_tight(tmp_path: Path) -> None:
    (text,) = re.findall(r"^```ini\n(\[Unit\].*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    unit = tmp_path / "evkg.service"
    unit.write_text(text.replace("/opt/evkg/venv/bin/evkg", "/bin/true"), encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    done = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=25", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout  # at most 2.5 of 10, where 10 is an open door
