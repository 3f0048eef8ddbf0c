"""Prints the part of requirements.lock that some distributions need, hashes included: `requirements_of.py LOCK NAME...`.

The lock says of every requirement who asked for it (`# via`): those asked for by a name on the list join the list, until
nobody joins. No resolver runs, so that an image holds the versions of the lock and no others. A requirement that belongs to an
extra nobody uses here may come along; one that is missing makes the installation of the wheel fail.
"""

import re
import sys
from pathlib import Path


def main() -> None:
    lock, *names = sys.argv[1:]
    blocks = re.split(r"\n(?=[a-z0-9])", Path(lock).read_text(encoding="utf-8"))
    entries = [(name_of(block), asked_by(block), block) for block in blocks if "==" in block.splitlines()[0]]
    wanted, grown = set[str](), set(names)
    while grown != wanted:
        wanted = grown
        grown = wanted | {name for name, askers, _ in entries if askers & wanted}
    sys.stdout.writelines(f"{block}\n" for name, _, block in entries if name in wanted)


def name_of(block: str) -> str:
    return block.split("==", 1)[0].split("[", 1)[0]


def asked_by(block: str) -> set[str]:
    comment = block.partition("# via")[2]
    return {word.split("[", 1)[0] for word in re.findall(r"[a-z0-9][a-z0-9._\[\]-]*", comment)}


main()
