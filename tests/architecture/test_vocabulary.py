"""Names and prose are the field's words. docs/glossary.md lists the refused names and what is written in their
place.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, nodes_of, python_files

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
    *("away", "staff_acts", "standing_alerts", "told_at", "vendor_away", "VendorAway"),
    # Documented settings, a callback that httptools names, and the term for HMACs under a secret key.
    *(
        "ai_answer_seconds",
        "balance_withdrawal_two_person_minor",
        "dispatch_two_person_minor",
        "client_answer_seconds_max",
        "on_message_begin",
        "KeyedHashes",
        "keyed_hashes",
    ),
}
FOLDERS = [
    folder
    for folder in (
        *(
            ROOT / name
            for name in ("services", "libs", "console", "sandbox", "tools", "operations", "testkit", "lab", "tests")
        ),
    )
    if folder.is_dir()
]


def names_in(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
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
        for name in {*names_in(path), path.stem} - ALLOWED
        if any(part.lower() in REFUSED for part in PART.findall(TERMS.sub("", name)))
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_no_name_holds_a_refused_word(folder) -> None:
    assert refused_names(folder) == [], "refused by docs/glossary.md"


# Words without a technical meaning. "beside" or "people" may be right in a sentence, and only names refuse them.
REFUSED_IN_PROSE = re.compile(
    r"\b(anybody|doors?|everybody|hears?|heard|judge[sd]?|news|nobody|somebody|strangers?|tells?|telling|thief|told|whoever)\b",
    re.IGNORECASE,
)
# Released migrations never change, and generated documents repeat the code. Code and quotations are no prose.
NO_PROSE = re.compile(
    r"/(migrations|templates|pages|reference|node_modules|\.venv)/|^(CHANGELOG|docs/glossary)\.md$|\.lock$"
)
OTHER_AUDIENCE = ("clients/", "console/", "docs/console.md", "docs/guides/", "tests/console/")
QUOTED = re.compile(r"```.*?```|`[^`]*`|\"[^\"]*\"", re.DOTALL)
COMMENT = re.compile(r"(?:^|\s)# .*")


def prose_of(path: Path) -> str:
    """Return the sentences of a page, or the comments and docstrings of a file. Empty where the whole file has no
    refused word.
    """
    text = path.read_text()
    if not REFUSED_IN_PROSE.search(text):
        return ""
    if path.suffix == ".md":
        return text
    if path.suffix != ".py":
        return "\n".join(COMMENT.findall(text))
    comments = [
        token.string for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT
    ]
    strings = [
        node.value.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    return "\n".join(comments + strings)


def files_with_prose() -> Iterator[Path]:
    folders = (ROOT / name for name in ("docs", "deploy", ".github"))
    for path in (*ROOT.glob("*"), *(path for folder in (*FOLDERS, *folders) for path in folder.rglob("*"))):
        name = str(path.relative_to(ROOT))
        written = path.suffix in {".py", ".md", ".yaml", ".yml", ".toml", ".env"} or path.name in {
            "Dockerfile",
            "Makefile",
        }
        if written and path.is_file() and not NO_PROSE.search(name) and not name.startswith(OTHER_AUDIENCE):
            yield path


def test_no_comment_or_page_holds_a_refused_word() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {word}"
        for path in files_with_prose()
        for word in REFUSED_IN_PROSE.findall(QUOTED.sub("", prose_of(path)))
    ]
    assert found == [], "refused by docs/glossary.md"
