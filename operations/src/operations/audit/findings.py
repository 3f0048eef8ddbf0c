"""Findings of an audit: differences, their kinds and the verdict (product contract, section 13.3)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

Kind = Literal["broken", "open", "waiting"]
"""`broken`: a rule does not hold. `open`: staff must decide. `waiting`: a pending message resolves it."""

Verdict = Literal["clean", "open", "broken"]
KINDS: Final[tuple[Kind, ...]] = ("broken", "open", "waiting")


@dataclass(frozen=True, slots=True)
class Offence:
    """One difference. `ids`: orders or vendors; a pending message about one of them would resolve it."""

    subject: str
    expected: str
    actual: str
    kind: Kind = "broken"
    ids: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return f"{self.subject}: {self.actual}; expected: {self.expected}"

    def of_kind(self, kind: Kind) -> "Offence":
        return replace(self, kind=kind)


@dataclass(frozen=True, slots=True)
class Finding:
    """The offences of one kind against a rule."""

    where: str
    rule: str
    kind: Kind
    offences: tuple[Offence, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The offences as text."""
        return tuple(offence.text for offence in self.offences)


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one audit. `not_compared`: the reason why the payment gateway was not compared; None: it was."""

    findings: tuple[Finding, ...]
    gateway_url: str
    not_compared: str | None = None

    @property
    def verdict(self) -> Verdict:
        if any(finding.kind == "broken" for finding in self.findings):
            return "broken"
        return "open" if self.findings else "clean"


def grouped(where: str, rule: str, offences: Sequence[Offence], rows_max: int) -> Iterable[Finding]:
    """Group offences into one finding for each kind."""
    for kind in KINDS:
        of_kind = tuple(offence for offence in offences if offence.kind == kind)[:rows_max]
        if of_kind:
            yield Finding(where, rule, kind, of_kind)
