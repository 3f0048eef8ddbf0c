"""docker-compose.yml as Compose reads it: with the files that it includes, and the settings files of each part."""

from pathlib import Path
from typing import Any

import yaml

from tests.architecture.sources import ROOT

FILE = ROOT / "docker-compose.yml"
SETTINGS_FILES = ROOT / "deploy/compose"


def compose() -> dict[str, Any]:
    """Return the whole document. `environment` of a part has the names of its settings files too, None for one passed
    on.
    """
    whole = yaml.load(FILE.read_text(), yaml.CSafeLoader)
    for name in whole.get("include", []):
        included = yaml.load((ROOT / name).read_text(), yaml.CSafeLoader)
        for part in included["services"].values():
            part["volumes"] = [_below_the_root(mount, ROOT / name) for mount in part.get("volumes", [])]
        for kind in ("services", "networks", "volumes"):
            assert all(whole[kind][key] == included[kind][key] for key in set(whole[kind]) & set(included[kind])), kind
            whole[kind] |= included[kind]
    for part in whole["services"].values():
        names = part.get("env_file", [])
        environment: dict[str, str | None] = {}
        for name in [names] if isinstance(names, str) else names:
            environment |= settings_of(ROOT / name)
        if environment:
            part["environment"] = environment | part.get("environment", {})
    return whole


def settings_of(path: Path) -> dict[str, str | None]:
    """Return the names of a settings file with their values, None for a name that is passed on."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    parts = [line.partition("=") for line in lines]
    return {name: value if equals else None for name, equals, value in parts}


def _below_the_root(mount: str, file: Path) -> str:
    """Return a mount of a file, which is relative to the file that names it, relative to the repository."""
    if not mount.startswith("."):
        return mount
    source, _, rest = mount.partition(":")
    return f"./{(file.parent / source).resolve().relative_to(ROOT)}:{rest}"
