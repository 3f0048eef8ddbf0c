"""The images of others are listed in `deploy/base-images.txt`, and one command pins them all by digest."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from campus_tools.supply import bill
from tests.architecture.sources import ROOT

LIST = "deploy/base-images.txt"
# A field of a manifest or of a compose file, an argument or stage of a Dockerfile, and a constant of the launcher.
IMAGE = r"""["']?(?P<image>[a-z0-9][\w./@:-]*:[\w.@:-]+)["']?"""
NAMED = re.compile(
    rf"^\s*(?:(?:- +)?(?:image|imageName): *|ARG \w*IMAGE=|FROM |\w*_IMAGE(?:: \w+)? = ){IMAGE}(?: AS \w+)?(?: *#.*)?$",
    re.MULTILINE,
)
KINDS = re.compile(r"(\.ya?ml|\.py|Dockerfile[^/]*)$")
DIGEST = re.compile(r".+:[^:@]+@sha256:[0-9a-f]{64}")


def files_with_images(root: Path) -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = [path for path in listed.splitlines() if KINDS.search(path) and "/tests/" not in f"/{path}"]
    return [root / path for path in paths if (root / path).exists()]


def images_of(path: Path) -> set[str]:
    return {found["image"] for found in NAMED.finditer(path.read_text())}


def list_of(root: Path) -> set[str]:
    return {line for line in (root / LIST).read_text().splitlines() if not line.startswith("#")}


def test_every_image_of_others_is_a_line_of_the_list() -> None:
    named = {path.relative_to(ROOT): images_of(path) for path in files_with_images(ROOT)}
    unlisted = {str(path): images - list_of(ROOT) for path, images in named.items() if images - list_of(ROOT)}
    assert unlisted == {}
    assert set().union(*named.values()) == list_of(ROOT)


@pytest.mark.parametrize(
    "line", ["    image: redis:7", "- image: 'redis:7'", "  imageName: a.io/redis:7 # x", "FROM redis:7 AS one",
             "ARG BASE_IMAGE=redis:7", 'REDIS_IMAGE = "redis:7"', 'REDIS_IMAGE: Final = "redis:7"'],
)  # fmt: skip
def test_an_image_is_found_in_each_form(line: str) -> None:
    [found] = NAMED.finditer(f"x:\n{line}\n")
    assert found["image"].endswith("redis:7")


def test_one_command_pins_every_image_and_removes_the_digests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resolver = tmp_path / "bin/docker"
    resolver.parent.mkdir()
    resolver.write_text(f"#!/bin/sh\necho sha256:{'a' * 64}\n")
    resolver.chmod(0o755)
    environment = {**os.environ, "PATH": f"{resolver.parent}:{os.environ['PATH']}"}
    root = tmp_path / "root"
    for path in [ROOT / LIST, *[path for path in files_with_images(ROOT) if images_of(path)]]:
        (root / path.relative_to(ROOT)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, root / path.relative_to(ROOT))
    before = {path: path.read_text() for path in root.rglob("*") if path.is_file()}
    command = [sys.executable, str(ROOT / "deploy/release/pin_base_images.py"), "--root", str(root)]
    # The second run replaces digests.
    for _ in range(2):
        subprocess.run(command, env=environment, check=True, capture_output=True)
        pinned = set().union(*[images_of(path) for path in files_with_images(root)])
        assert pinned == list_of(root)
        assert all(DIGEST.fullmatch(image) for image in pinned)
    monkeypatch.setattr(bill, "ROOT", root)
    assert bill._base_image() == ("python", "3.13-slim")
    subprocess.run([*command, "--tags"], check=True, capture_output=True)
    tags = {path: re.sub(r"@sha256:[0-9a-f]{64}", "", text) for path, text in before.items()}
    assert {path: path.read_text() for path in before} == tags
