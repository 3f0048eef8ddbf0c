"""Write the manifests and a Compose override with every image by digest:

    .venv/bin/python deploy/release/pin_images.py [--ours-only] [--folder build/release]

Reads images.txt of the folder (a line for each image: its name in the manifests, and REFERENCE@DIGEST). Images of
others are resolved by `docker buildx imagetools`; `--ours-only` leaves their tags, for machines without their
registries.

    manifests/   copies of deploy/k8s and of the dashboards that it names
    compose/     docker-compose.yml with what it mounts, and images.yaml:
                 docker compose -f docker-compose.yml -f images.yaml up --wait --no-build
    campus.yaml  the same system as one file that needs no other: docker compose -f campus.yaml up --wait.
                 Without the servers of the profile `observability`, which read folders of the repository
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# The forms of deploy/k8s and docker-compose.yml: an entry of `images:` in an overlay, and an image of others.
OURS = re.compile(r"\{name: (campus-[a-z-]+), newName: \S+, newTag: \S+\}")
# The file of the repository that services mount.
MOUNTED_FILE = "deploy/subscribers.yaml"
MOUNTED_AT = PurePosixPath("/etc/campus/subscribers.yaml")
FILES = "files-of-campus"
ONE_FILE_HEADING = """\
# The whole system on one machine from the images of a release. It needs no checkout:
#   docker compose -f campus.yaml up --wait
#   docker compose -f campus.yaml run --rm demo     run a purchase from browsing to the paid-out vendor, then the audit
#   docker compose -f campus.yaml down              stop (`-v` also deletes all data and secrets)
# Gateway: http://localhost:8080; console: http://localhost:8120; sandbox: http://localhost:8170.
# Written by deploy/release/pin_images.py from docker-compose.yml and deploy/compose. Settings: the shell or `.env`.
"""
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
    shutil.copy(ROOT / MOUNTED_FILE, compose / MOUNTED_FILE)
    for path in (ROOT / "docker-compose.yml", *(ROOT / "deploy/compose").glob("*.yaml")):
        (compose / path.relative_to(ROOT)).write_text(pinned(path.read_text()))
    (compose / "images.yaml").write_text(override(ours))
    single = options.folder / "campus.yaml"
    single.write_text(ONE_FILE_HEADING + pinned(yaml.dump(one_file(ours), Dumper=Plain, sort_keys=False, width=200)))
    print(f"{manifests}\n{compose}\n{single}")


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


def one_file(ours: dict[str, str]) -> dict[str, Any]:
    """Return docker-compose.yml with images of the release and its settings files, so that it needs no other file.

    A mounted file is written into a volume by a one-shot service: a container with a read-only root takes no `configs`
    with a content.
    """
    whole = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    del whole["include"]
    whole = {key: value for key, value in whole.items() if not key.startswith("x-")}
    for service in whole["services"].values():
        service.pop("build", None)
        service["image"] = ours.get(service["image"], service["image"])
        names = service.pop("env_file", [])
        settings: dict[str, str | None] = {}
        for name in [names] if isinstance(names, str) else names:
            settings |= settings_of(ROOT / name)
        if settings:
            service["environment"] = settings | service.get("environment", {})
        mounts = service.get("volumes", [])
        if f"./{MOUNTED_FILE}:{MOUNTED_AT}:ro" in mounts:
            service["volumes"] = [mount for mount in mounts if not mount.startswith("./")]
            service["volumes"].append(f"{FILES}:{MOUNTED_AT.parent}:ro")
            service["depends_on"] = {**service["depends_on"], FILES: {"condition": "service_completed_successfully"}}
        if left := [mount for mount in service.get("volumes", []) if mount.startswith(".")]:
            sys.exit(f"a mount of the checkout is not in the one file: {left}")
    whole["services"][FILES] = {
        "image": ours["campus-operations"],
        "entrypoint": ["sh", "-c", f'printf %s "$$CONTENT" >/files/{MOUNTED_AT.name}'],
        # The volume is root's; the readers are not.
        "user": "root",
        "read_only": True,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges:true"],
        "network_mode": "none",
        "healthcheck": {"disable": True},
        "environment": {"CONTENT": (ROOT / MOUNTED_FILE).read_text().replace("$", "$$")},
        "volumes": [f"{FILES}:/files"],
    }
    whole["volumes"][FILES] = None
    return whole


def settings_of(path: Path) -> dict[str, str | None]:
    """Return the names of a settings file with their values, None for a name that is passed on."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    if quoted := [line for line in lines if "'" in line or '"' in line]:
        sys.exit(f"{path}: a quote means something else in a settings file: {quoted}")
    parts = [line.partition("=") for line in lines]
    return {name: value if equals else None for name, equals, value in parts}


class Plain(yaml.SafeDumper):
    """Writes shared parts in full: a reader of one service sees all of it."""

    def ignore_aliases(self, data: object) -> bool:
        return True


if __name__ == "__main__":
    main()
