"""Each cited number of the contract is a heading or a numbered line of `docs/contract`."""

import re
from collections.abc import Iterator

import pytest

from tests.architecture.sources import FOLDERS, ROOT, for_each, python_files

CONTRACT = ROOT / "docs" / "contract"
CITATION = re.compile(r"contract,? sections? ((?:\d+(?:\.\d+)?)(?:(?:, | and | to )\d+(?:\.\d+)?)*)", re.IGNORECASE)
DOCUMENTS = sorted(path for folder in [*FOLDERS, ROOT / "docs"] for path in folder.rglob("*.md"))


def targets() -> set[str]:
    """`6`, `6.4` of the headings; `14.9` of the ninth invariant."""
    found: set[str] = set()
    for page in CONTRACT.glob("*.md"):
        text = page.read_text()
        found.update(re.findall(r"^##? (\d+(?:\.\d+)?)", text, re.MULTILINE))
        if page.name.startswith("14-"):
            found.update(f"14.{number}" for number in re.findall(r"^(\d+)\. ", text, re.MULTILINE))
    return found


def citations(text: str) -> Iterator[str]:
    for cited in CITATION.findall(text):
        yield from re.findall(r"\d+(?:\.\d+)?", cited)


TARGETS = targets()


def test_the_contract_has_all_its_sections() -> None:
    assert {str(number) for number in range(1, 15)} <= TARGETS


@pytest.mark.parametrize(("text", "numbers"), [("(contract sections 5, 10 and 14.6)", ["5", "10", "14.6"]), ("", [])])
def test_a_citation_is_parsed_completely(text: str, numbers) -> None:
    assert list(citations(text)) == numbers


@for_each([*python_files(*FOLDERS), *DOCUMENTS])
def test_every_citation_has_a_target(path) -> None:
    assert set(citations(path.read_text())) <= TARGETS
