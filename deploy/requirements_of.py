"""Print the part of requirements.lock that some distributions need, hashes included: `requirements_of.py LOCK NAME...`.

The lock names the dependents of every requirement (`# via`): the result is the closure over them. No resolver runs, so
that an image contains the locked versions only. Requirements of unused extras may be included; a missing one fails the
wheel's installation.
"""

import re
import sys
from pathlib import Path


def main() -> None:
    lock, *names = sys.argv[1:]
    blocks = re.split(r"\n(?=[a-z0-9])", Path(lock).read_text(encoding="utf-8"))
    entries = [(name_of(block), dependents_of(block), block) for block in blocks if "==" in block.splitlines()[0]]
    required, grown = set[str](), set(names)
    while grown != required:
        required = grown
        grown = required | {name for name, dependents, _ in entries if dependents & required}
    sys.stdout.writelines(f"{block}\n" for name, _, block in entries if name in required)


def name_of(block: str) -> str:
    return block.split("==", 1)[0].split("[", 1)[0]


def dependents_of(block: str) -> set[str]:
    comment = block.partition("# via")[2]
    return {word.split("[", 1)[0] for word in re.findall(r"[a-z0-9][a-z0-9._\[\]-]*", comment)}


main()
