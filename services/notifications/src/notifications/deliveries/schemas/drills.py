"""Request models of drills (contract section 12)."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from common.web.schemas import Instant, RequestBody
from contracts.severities import Severity

STEPS_MAX = 50
_Slug = Annotated[str, Field(pattern="^[a-z][a-z0-9-]{0,59}$", examples=["dead-letters"])]


class StartDrillRequest(RequestBody):
    name: Annotated[_Slug, Field(description="The name of the drill in campusctl.")]
    runbook: Annotated[_Slug, Field(description="The runbook of its alert.")]
    severity: Severity


class EndDrillRequest(RequestBody):
    """Times of a drill. Null: not reached."""

    seen_at: Annotated[Instant | None, Field(description="The time at which the alert was raised.")] = None
    acknowledged_at: Annotated[Instant | None, Field(description="The time at which a user took it on.")] = None
    cleared_at: Annotated[Instant | None, Field(description="The time at which the alert was cleared.")] = None
    runbook_steps: Annotated[
        list[Annotated[int, Field(ge=1, le=99)]],
        Field(
            default_factory=list,
            max_length=STEPS_MAX,
            description="The numbers of the runbook's steps that were used.",
        ),
    ]

    @model_validator(mode="after")
    def check_order(self) -> Self:
        """Reject an acknowledgement or an end before the alert."""
        for name, at in (("acknowledgedAt", self.acknowledged_at), ("clearedAt", self.cleared_at)):
            if at is not None and (self.seen_at is None or at < self.seen_at):
                raise ValueError(f"{name} must not be before seenAt")
        return self
