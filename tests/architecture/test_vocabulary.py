"""Names are the field's words. docs/glossary.md lists the refused ones and what is written in their place."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, python_files, tree_of

_, TABLE = (ROOT / "docs/glossary.md").read_text().split("## Refused words", 1)
REFUSED = {word for line in TABLE.splitlines() if line.startswith("| ") for word in line.split("|")[1].split(", ")}
REFUSED = {word.strip() for word in REFUSED}
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# Terms of the field and public names that hold a refused word: the variable SEALING_KEY stays.
TERMS = re.compile(r"dead_?letters?|sealing_keys?", re.IGNORECASE)
ALLOWED = {
    # The class of an event is named by its type, which is public, and its fields are the message's.
    *("ErasureJudged", "address_sealed", "code_sealed", "pin_sealed"),
    # The parameter of a public path.
    "letter_id",
    # Columns, tables and fields of the public contract.
    *("acts", "asked_at", "begin", "payout_acts", "payout_exception_acts", "release_statements_begin", "sealed"),
    *("staff_acts", "standing_alerts", "told_at"),
    # Documented settings, a callback that httptools names, and the term for HMACs under a secret key.
    *("ai_answer_seconds", "client_answer_seconds_max", "on_message_begin", "KeyedHashes", "keyed_hashes"),
    # Migrations call these.
    *("create_leaving_pictures_v1", "beside"),
}
FOLDERS = [
    folder
    for folder in (
        *(
            ROOT / name
            for name in ("services", "libs", "console", "sandbox/src", "tools", "operations", "testkit", "lab", "tests")
        ),
    )
    if folder.is_dir()
]


def names_in(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def refused_names(folder: Path) -> list[str]:
    return sorted(
        f"{path.relative_to(folder)}: {name}"
        for path in python_files(folder)
        for name in {*names_in(tree_of(path)), path.stem} - ALLOWED
        if not name.startswith("test_") and any(part.lower() in REFUSED for part in PART.findall(TERMS.sub("", name)))
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_no_name_holds_a_refused_word(folder) -> None:
    assert refused_names(folder) == [], "refused by docs/glossary.md"
