"""A release is built by scripts of this repository, contains every image of the manifests, and names digests only."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from campus_tools.supply.bill import IMAGES
from tests.architecture import kustomize
from tests.architecture.compose import compose
from tests.architecture.kustomize import OVERLAYS, containers_of, rendered
from tests.architecture.sources import ROOT

SCRIPTS = ROOT / "deploy/release"
PATH = ROOT / ".github/workflows/release.yml"
WORKFLOW = yaml.safe_load(PATH.read_text())
JOB = WORKFLOW["jobs"]["publish"]
COMMANDS = [step["run"] for step in JOB["steps"] if "run" in step]
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# `on` is a boolean of YAML 1.1.
TRIGGERS = WORKFLOW[True]


@pytest.fixture
def released() -> dict[str, str]:
    """Return the digest of each image, as build-images writes them."""
    return {f"campus-{name}": f"registry.test/campus/{name}@sha256:{index:064x}" for index, name in enumerate(IMAGES)}


@pytest.fixture
def folder(tmp_path: Path, released: dict[str, str]) -> Path:
    (tmp_path / "images.txt").write_text("".join(f"{name} {reference}\n" for name, reference in released.items()))
    return tmp_path


def pin(folder: Path, *arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, SCRIPTS / "pin_images.py", "--folder", folder, *arguments]
    environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


# ---- The workflow
# -------------------------------------------------------------------------------------------------------


def test_a_release_starts_with_a_tag_and_the_checks_of_ci() -> None:
    assert TRIGGERS == {"push": {"tags": ["v*"]}}
    assert WORKFLOW["jobs"]["checks"] == {"uses": "./.github/workflows/ci.yml"}
    assert JOB["needs"] == "checks"
    assert "workflow_call" in yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())[True]


def test_a_release_is_built_by_the_scripts_in_their_order() -> None:
    ours = [command for command in COMMANDS if "deploy/release/" in command]
    assert ours == [
        'make release-notes VERSION="$(deploy/release/version)"',
        "deploy/release/build-images",
        "deploy/release/scan-images",
        ".venv/bin/python deploy/release/pin_images.py",
        "deploy/release/artefacts",
        "deploy/release/sign-images",
        "deploy/release/push-charts",
        "deploy/release/publish-packages",
        "deploy/release/publish",
    ]
    assert "SBOM" not in PATH.read_text(), "only a machine without the scanner omits it"
    assert "|| true" not in PATH.read_text()
    assert "continue-on-error" not in PATH.read_text()


def test_actions_of_the_release_are_pinned_by_commit() -> None:
    lines = re.findall(r"uses: ([^.].*)", PATH.read_text())
    assert len(lines) == len([step for step in JOB["steps"] if "uses" in step])
    assert all(re.fullmatch(r"[a-z-]+(/[a-z-]+){1,2}@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in lines)


def test_only_the_publishing_job_may_write() -> None:
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert JOB["permissions"] == {"contents": "write", "packages": "write", "id-token": "write"}
    assert JOB["steps"][0]["with"]["persist-credentials"] is False


@pytest.mark.parametrize("script", [path for path in SCRIPTS.iterdir() if not path.suffix], ids=lambda path: path.name)
def test_a_script_can_be_called(script: Path) -> None:
    assert script.stat().st_mode & 0o100
    assert subprocess.run(["bash", "-n", script], check=False).returncode == 0


@pytest.mark.parametrize(("ended", "status"), [(0, 0), (2, 1)])
def test_an_image_with_a_fixable_vulnerability_stops_the_release(ended: int, status: int, tmp_path: Path) -> None:
    """Every image is scanned before the script ends."""
    folder = tmp_path / "deploy/release"
    folder.mkdir(parents=True)
    shutil.copy(SCRIPTS / "scan-images", folder)
    (tmp_path / "build/release").mkdir(parents=True)
    (tmp_path / "build/release/images.txt").write_text("campus-a registry.test/a@sha256:1\ncampus-b registry.test/b\n")
    grype = tmp_path / "grype"
    grype.write_text(f'#!/bin/sh\necho "$@" >>"{tmp_path}/calls"\nexit {ended}\n')
    grype.chmod(0o755)
    environment = {**os.environ, "GRYPE": str(grype)}
    result = subprocess.run([folder / "scan-images"], env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == status
    assert ("campus-a campus-b" in result.stderr) == bool(ended)
    options = "--quiet --only-fixed --fail-on high"
    assert (tmp_path / "calls").read_text() == f"{options} registry.test/a@sha256:1\n{options} registry.test/b\n"


# ---- The images
# ---------------------------------------------------------------------------------------------------------


def test_every_image_of_manifests_and_compose_is_built() -> None:
    lines = (SCRIPTS / "images.txt").read_text().splitlines()
    built = dict(line.split() for line in lines if not line.startswith("#"))
    assert built == IMAGES
    images = {f"campus-{name}" for name in built}
    named = set(re.findall(r"image: (campus-[a-z-]+)$", "\n".join(manifests()), re.MULTILINE))
    assert named <= images
    assert {part["image"] for part in compose()["services"].values() if part["image"].startswith("campus-")} == images


def manifests() -> list[str]:
    return [path.read_text() for path in (ROOT / "deploy/k8s").rglob("*.yaml")]


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_manifests_of_a_release_name_its_digests(overlay, folder: Path, released, monkeypatch) -> None:
    assert pin(folder, "--ours-only").returncode == 0
    in_the_repository = ours_of(overlay)
    monkeypatch.setattr(kustomize, "FOLDER", folder / "manifests/k8s")
    names = {f"campus-{image.rpartition('/')[2].partition(':')[0]}" for image in in_the_repository}
    assert {"campus-api-gateway", "campus-payments"} <= names
    assert ours_of(overlay) == {released[name] for name in names}


def ours_of(overlay: str) -> set[str]:
    return {it["image"] for it in containers_of(rendered(overlay)) if "/campus/" in it["image"]}


def test_the_compose_file_of_a_release_builds_nothing(folder: Path, released) -> None:
    assert pin(folder, "--ours-only").returncode == 0
    override = (folder / "compose/images.yaml").read_text()
    parts = {name: part for name, part in compose()["services"].items() if part["image"] in released}
    expected = [f"  {name}: {{image: '{released[part['image']]}', build: !reset null}}" for name, part in parts.items()]
    assert override.splitlines() == ["services:", *expected]
    assert (folder / "compose/deploy/compose/services.env").exists()


def test_one_file_starts_what_the_checkout_starts(folder: Path, released) -> None:
    """Each service has the image, settings, volumes and conditions of docker-compose.yml, and no file of a checkout."""
    assert pin(folder, "--ours-only").returncode == 0
    one = yaml.safe_load((folder / "campus.yaml").read_text())
    expected = {
        name: part for name, part in compose()["services"].items() if "observability" not in part.get("profiles", [])
    }
    assert set(one["services"]) == set(expected) | {"files-of-campus"}
    for name, part in expected.items():
        found = one["services"][name]
        mounts = [mount for mount in part.get("volumes", []) if not mount.startswith("./")]
        changed = {"image": released.get(part["image"], part["image"])}
        if mounts != part.get("volumes", []):
            changed["volumes"] = [*mounts, "files-of-campus:/etc/campus:ro"]
            done = {"condition": "service_completed_successfully"}
            changed["depends_on"] = {**part["depends_on"], "files-of-campus": done}
        assert found == {key: value for key, value in part.items() if key not in ("build", "env_file")} | changed, name
    written = one["services"]["files-of-campus"]["environment"]["CONTENT"]
    assert written.replace("$$", "$") == (ROOT / "deploy/subscribers.yaml").read_text()
    declared = {mount.partition(":")[0] for part in one["services"].values() for mount in part.get("volumes", [])}
    assert declared <= set(one["volumes"])


def test_the_folder_of_compose_has_every_mounted_file(folder: Path) -> None:
    assert pin(folder, "--ours-only").returncode == 0
    mounts = [mount for part in compose()["services"].values() for mount in part.get("volumes", [])]
    sources = {mount.partition(":")[0] for mount in mounts if mount.startswith("./")}
    assert sources
    assert [source for source in sources if not (folder / "compose" / source).exists()] == []


def test_images_of_others_are_pinned_too(folder: Path) -> None:
    resolver = folder / "bin/docker"
    resolver.parent.mkdir()
    resolver.write_text(f"#!/bin/sh\necho sha256:{'a' * 64}\n")
    resolver.chmod(0o755)
    assert pin(folder, path=str(resolver.parent)).returncode == 0
    for path in [
        *(folder / "manifests/k8s").rglob("*.yaml"),
        folder / "compose/docker-compose.yml",
        folder / "campus.yaml",
    ]:
        # A runbook's manifest may quote an image; an unpinned one would be pulled by its tag.
        for image in re.findall(r"^ +(?:image|imageName): (\S+)$", path.read_text(), re.MULTILINE):
            assert image.startswith("campus-") or DIGEST.search(image), f"{path.name}: {image}"


def test_an_image_without_a_digest_stops_the_release(folder: Path) -> None:
    (folder / "images.txt").write_text("campus-orders registry.test/campus/orders:1.0.0\n")
    result = pin(folder, "--ours-only")
    assert (result.returncode, "no digest" in result.stderr) == (1, True)


# ---- Version, notes and licence
# -----------------------------------------------------------------------------------------


def test_a_release_without_notes_is_refused() -> None:
    result = subprocess.run([SCRIPTS / "notes", "999.0.0"], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "CHANGELOG.md has no section" in result.stderr


def test_the_notes_of_a_pre_release_are_the_unreleased_changes() -> None:
    notes = subprocess.run([SCRIPTS / "notes", "1.0.0-rc.1"], capture_output=True, text=True, check=True).stdout
    text = (ROOT / "CHANGELOG.md").read_text().split("## Unreleased\n", 1)[1].split("\n## ", 1)[0]
    assert notes.strip() == text.strip()


@pytest.mark.parametrize(
    ("tags", "version"),
    [
        ((), "0.0.0-dev.0"),
        (("v1.2.3",), "1.2.3"),
        (("v2.0.0-rc.1",), "2.0.0-rc.1"),
        (("v1",), None),
        (("x1.2.3",), "0.0.0-dev.0"),
    ],
)
def test_the_version_is_the_tag_of_the_commit(tags: tuple[str, ...], version: str | None, tmp_path: Path) -> None:
    script = tmp_path / "version"
    script.write_text((SCRIPTS / "version").read_text())
    script.chmod(0o755)
    author = ["-c", "user.name=test", "-c", "user.email=test@campus.example", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, *author, "commit", "--quiet", "--allow-empty", "-m", "Start"], check=True)
    for tag in tags:
        subprocess.run(["git", "-C", tmp_path, "tag", tag], check=True)
    result = subprocess.run([script], capture_output=True, text=True, check=False)
    assert (result.stdout.strip() or None) == version
    assert (result.returncode == 0) == (version is not None)


def test_published_packages_contain_the_licence() -> None:
    licence = (ROOT / "LICENSE").read_bytes()
    for package in ("clients/python", "clients/typescript", "clients/create-storefront"):
        assert (ROOT / package / "LICENSE").read_bytes() == licence


def test_published_packages_contain_types_sources_and_the_changelog() -> None:
    client = ROOT / "clients/typescript"
    assert json.loads((client / "package.json").read_text())["files"] == ["bin", "dist", "CHANGELOG.md"]
    options = json.loads((client / "tsconfig.json").read_text())["compilerOptions"]
    assert all(options[name] for name in ("declaration", "sourceMap", "inlineSources"))
    assert "CHANGELOG.md" in (SCRIPTS / "artefacts").read_text()
    targets = tomllib.loads((ROOT / "clients/python/pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]
    assert targets["sdist"]["force-include"] == {"../../CHANGELOG.md": "CHANGELOG.md"}
    assert (ROOT / "clients/python/src/campus_client/py.typed").exists()
