"""Alerts are read by tired people: their texts have naira and Lagos time, never kobo or UTC."""

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.sources import ROOT, tree_of

_WORDS: Final = ("kobo", "smallest unit", "minor unit")
_MODULES: Final = sorted(ROOT.glob("services/*/src/**/*alert*.py"))


def _raw_parts(module: Path) -> list[str]:
    """Return what the texts of the module have in the words of machines."""
    found: list[str] = []
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.FormattedValue) and ast.unparse(node.value).endswith("_minor"):
            found.append(ast.unparse(node.value))
        # A text has spaces; a key and the name of a runbook have none.
        if isinstance(node, ast.Call):
            texts = [
                one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            found += [word for word in _WORDS for text in texts if " " in text and word in text]
    return found


def test_the_alerts_of_money_are_checked() -> None:
    assert {"payments", "payouts"} <= {part for module in _MODULES for part in module.parts}


@pytest.mark.parametrize("module", _MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_texts_of_alerts_have_naira(module: Path) -> None:
    assert _raw_parts(module) == []
