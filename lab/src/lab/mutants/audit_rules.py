"""Faults of the audit: each of its rules finds nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lab.mutants.mutants import ROOT, Mutant
from operations.audit.comparisons import COMPARISONS
from operations.audit.invariants import INVARIANTS

PACKAGE: Final = Path("operations/src")
_OF_PAYMENTS: Final = "services/payments/tests/integration/test_audit_invariants.py"
_PLANTED: Final = "operations/tests/test_planted_faults.py::test_a_planted_fault_trips_its_rule"
_INVARIANTS: Final = Path("operations/src/operations/audit/invariants.py")
_COMPARISONS: Final = Path("operations/src/operations/audit/comparisons.py")


def rule_mutants() -> Iterator[Mutant]:
    """Yield a mutant for each rule. The module stays as it is, and a line at its end empties the rule."""
    invariants, comparisons = ((ROOT / path).read_text(encoding="utf-8") for path in (_INVARIANTS, _COMPARISONS))
    for place, line in enumerate(INVARIANTS):
        emptied = (
            "\nimport dataclasses as _d\n"
            f"_e = _d.replace(INVARIANTS[{place}], offending=f'SELECT * FROM ({{INVARIANTS[{place}].offending}}) AS r WHERE false')\n"
            f"INVARIANTS = (*INVARIANTS[:{place}], _e, *INVARIANTS[{place + 1}:])\n"
        )
        yield _mutant(line.service, line.rule, _INVARIANTS, invariants + emptied)
    for place, comparison in enumerate(COMPARISONS):
        emptied = (
            "\nimport dataclasses as _d\n\n\nasync def _nothing(*_):\n    for offence in ():\n        yield offence\n\n\n"
            f"_e = _d.replace(COMPARISONS[{place}], offending=_nothing)\n"
            f"COMPARISONS = (*COMPARISONS[:{place}], _e, *COMPARISONS[{place + 1}:])\n"
        )
        yield _mutant("all", comparison.rule, _COMPARISONS, comparisons + emptied)


def tests_of(mutant: Mutant) -> list[str]:
    """The test with the planted fault of a rule."""
    service, _, _ = mutant.name.partition(":")
    return [_OF_PAYMENTS] if service == "payments" else [f"{_PLANTED}[{mutant.name[:60]}]"]


def _mutant(service: str, rule: str, path: Path, source: str) -> Mutant:
    return Mutant(f"audit rule of {service}: {rule}", "rule", "audit", path, lambda: source, f"{service}: {rule}")
