"""Alerts for staff on call, which every service may publish."""

from typing import ClassVar
from uuid import UUID

import msgspec

from contracts.event import Event
from contracts.severities import Severity


class AlertRaised(Event, frozen=True, kw_only=True):
    """A problem needs attention. `runbook` names the page in docs/runbooks; `dedup_key` joins repetitions into one
    alert.
    """

    TYPE: ClassVar[str] = "operations.alert_raised.v1"
    alert_id: UUID
    severity: Severity
    title: str
    detail: str
    runbook: str
    dedup_key: str
    about: str | None = msgspec.field(default=None, name="subject")


class AlertCleared(Event, frozen=True, kw_only=True):
    """The problem of an alert is over: the open alert with this `dedup_key` closes. `alert_id` is the id of this
    event.
    """

    TYPE: ClassVar[str] = "operations.alert_cleared.v1"
    alert_id: UUID
    dedup_key: str
    reason: str
