"""Audits of the money invariants of all services (contract section 13.3).

A posting registers itself in `ledger_unsealed`. After the commit the worker links it: SHA-256 over the previous link
and the transaction with its entries (`common.ledger.hash_chain`, decision 18). `python -m payments verify-ledger`
recomputes every link and prints length and head. It ends with status 1 and the first broken row when the past was
changed, or a transaction older than a minute has no link. `verify-ledger <length> <head>` compares the chain with an
earlier day's report, which is in the worker's log.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import UUID

FindingKind = Literal["broken", "open", "waiting"]
Verdict = Literal["clean", "open", "broken"]

# One alert while audits end broken.
ALERT_KEY: Final = "audit-broken"


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """A difference: the check that found it, what it is about, and both values as text."""

    check: str
    kind: FindingKind
    subject: str
    expected: str
    actual: str


@dataclass(frozen=True, slots=True)
class Audit:
    """A finished audit. `gateway_reason`: why the payment gateway was not compared; None when it was."""

    id: UUID
    started_at: datetime
    finished_at: datetime
    gateway_reason: str | None
    findings: tuple[AuditFinding, ...]

    @property
    def verdict(self) -> Verdict:
        return verdict_of(self.findings)


def verdict_of(findings: Iterable[AuditFinding]) -> Verdict:
    """`broken` with a broken finding, `open` with any other, else `clean`."""
    kinds = {finding.kind for finding in findings}
    if "broken" in kinds:
        return "broken"
    return "open" if kinds else "clean"
