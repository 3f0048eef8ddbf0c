"""Write the manifests and a Compose override with every image by digest:

    .venv/bin/python deploy/release/pin_images.py [--ours-only] [--folder build/release]

Reads images.txt of the folder (a line for each image: its name in the manifests, and REFERENCE@DIGEST). Images of
others are resolved by `docker buildx imagetools`; `--ours-only` leaves their tags, for machines without their
registries.

    manifests/   copies of deploy/k8s and of the dashboards that it names
    compose/     docker-compose.yml with what it mounts, and images.yaml:
                 docker compose -f docker-compose.yml -f images.yaml up --wait --no-build
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# The forms of deploy/k8s and docker-compose.yml: an entry of `images:` in an overlay, and an image of others.
OURS = re.compile(r"\{name: (campus-[a-z-]+), newName: \S+, newTag: \S+\}")
OTHERS = re.compile(r"^(?P<key> +(?:image|imageName): )(?P<tagged>[a-z0-9./-]+:[A-Za-z0-9.-]+)$", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ours-only", action="store_true")
    parser.add_argument("--folder", type=Path, default=ROOT / "build/release")
    options = parser.parse_args()
    ours = dict(line.split() for line in (options.folder / "images.txt").read_text().splitlines())
    if wrong := [reference for reference in ours.values() if not DIGEST.fullmatch(reference.partition("@")[2])]:
        sys.exit(f"no digest: {wrong}")
    resolved: dict[str, str] = {}

    def entry(found: re.Match[str]) -> str:
        name, digest = ours[found[1]].split("@")
        return f"{{name: {found[1]}, newName: {name}, digest: {digest}}}"

    def other(found: re.Match[str]) -> str:
        tagged = found["tagged"]
        if tagged not in resolved:
            resolved[tagged] = digest_of(tagged)
        return f"{found['key']}{tagged}@{resolved[tagged]}"

    def pinned(text: str) -> str:
        text = OURS.sub(entry, text)
        return text if options.ours_only else OTHERS.sub(other, text)

    manifests = options.folder / "manifests"
    shutil.rmtree(manifests, ignore_errors=True)
    for part in ("k8s", "observability/grafana"):
        shutil.copytree(
            ROOT / "deploy" / part, manifests / part, ignore=shutil.ignore_patterns("__pycache__", "schemas")
        )
    for path in manifests.rglob("*.yaml"):
        path.write_text(pinned(path.read_text()))

    compose = options.folder / "compose"
    shutil.rmtree(compose, ignore_errors=True)
    (compose / "deploy").mkdir(parents=True)
    for folder in ("compose", "observability"):
        shutil.copytree(ROOT / "deploy" / folder, compose / "deploy" / folder)
    for path in (ROOT / "docker-compose.yml", *(ROOT / "deploy/compose").glob("*.yaml")):
        (compose / path.relative_to(ROOT)).write_text(pinned(path.read_text()))
    (compose / "images.yaml").write_text(override(ours))
    print(f"{manifests}\n{compose}")


def digest_of(tagged: str) -> str:
    command = ["docker", "buildx", "imagetools", "inspect", tagged, "--format", "{{.Manifest.Digest}}"]
    digest = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    if not DIGEST.fullmatch(digest):
        sys.exit(f"{tagged} has no digest: {digest}")
    return digest


def override(ours: dict[str, str]) -> str:
    """Return the images of the release in place of those that docker-compose.yml builds."""
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    lines = [
        f"  {name}: {{image: {ours[service['image']]!r}, build: !reset null}}\n"
        for name, service in services.items()
        if service["image"] in ours
    ]
    return "".join(["services:\n", *lines])


if __name__ == "__main__":
    main()
