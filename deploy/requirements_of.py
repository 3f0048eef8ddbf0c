"""Print the part of requirements.lock that some distributions need, hashes included: `requirements_of.py LOCK NAME...`.

A name that ends in `.toml` is the project file of a distribution of this repository, of which the first is the one that
is needed. A project that it requires is another file of the list; of its extras, only the named ones are needed.

The lock names the dependents of every requirement (`# via`): the result is the closure over them. No resolver runs, so
that an image contains the locked versions only. Requirements of unused extras of others may be included; a missing one
fails the wheel's installation.
"""

import re
import sys
import tomllib
from pathlib import Path


def main() -> None:
    lock, *names = sys.argv[1:]
    blocks = re.split(r"\n(?=[a-z0-9])", Path(lock).read_text(encoding="utf-8"))
    entries = [(name_of(block), dependents_of(block), block) for block in blocks if "==" in block.splitlines()[0]]
    projects = [tomllib.loads(Path(name).read_text())["project"] for name in names if name.endswith(".toml")]
    required, grown = set[str](), {name for name in names if not name.endswith(".toml")}
    if projects:
        grown |= declared_by(projects[0], (), {project["name"]: project for project in projects})
    while grown != required:
        required = grown
        grown = required | {name for name, dependents, _ in entries if dependents & required}
    sys.stdout.writelines(f"{block}\n" for name, _, block in entries if name in required)


def declared_by(project: dict, extras: tuple[str, ...], projects: dict[str, dict]) -> set[str]:
    """Return what a project and these extras of it require, without the projects of this repository."""
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    declared = set[str]()
    for line in lines:
        name, named = re.match(r"([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?", line).groups()
        if name in projects:
            declared |= declared_by(projects[name], tuple(re.split(r"\s*,\s*", named)) if named else (), projects)
        else:
            declared.add(re.sub(r"[-_.]+", "-", name).lower())
    return declared


def name_of(block: str) -> str:
    return block.split("==", 1)[0].split("[", 1)[0]


def dependents_of(block: str) -> set[str]:
    comment = block.partition("# via")[2]
    return {word.split("[", 1)[0] for word in re.findall(r"[a-z0-9][a-z0-9._\[\]-]*", comment)}


main()
