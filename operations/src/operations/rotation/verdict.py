"""Decide whether an old secret may be revoked: no spike of 401 or 403, and no use of it (Authentication 9). Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

# An error share is a spike when it doubles and grows by at least one percentage point: with little traffic, one
# mistyped password doubles it.
SPIKE_FACTOR: Final = 2.0
SPIKE_MARGIN: Final = 0.01
REJECTED_STATUSES: Final = (401, 403)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Responses at the edge over a period: all, and those with each error status."""

    responses: float
    refused: Mapping[int, float] = field(default_factory=dict)

    def share(self, status: int) -> float:
        """Return the share of a status in all responses, 0 to 1."""
        return self.refused.get(status, 0.0) / self.responses if self.responses else 0.0


@dataclass(frozen=True, slots=True)
class Seen:
    """Measurements `since` the rotation and `before` it, and the uses of old values."""

    before: Stretch
    since: Stretch
    previous_uses: Mapping[str, float] = field(default_factory=dict)
    sessions_of_old_logins: Mapping[str, int] = field(default_factory=dict)


def reasons_against(seen: Seen) -> list[str]:
    """Return the reasons against a revocation; empty: the old secret may be revoked."""
    reasons = []
    if not seen.since.responses:
        reasons.append("there were no responses in this period, so the metrics prove nothing")
    for status in REJECTED_STATUSES:
        now, before = seen.since.share(status), seen.before.share(status)
        if now > before * SPIKE_FACTOR and now > before + SPIKE_MARGIN:
            reasons.append(f"{status} rose from {before:.2%} to {now:.2%} of the answers")
    for secret, uses in sorted(seen.previous_uses.items()):
        if uses > 0:
            reasons.append(f"the previous {secret} was used {uses:.0f} times lately")
    for login, sessions in sorted(seen.sessions_of_old_logins.items()):
        if sessions > 0:
            reasons.append(f"{sessions} sessions are open with {login}")
    return reasons
