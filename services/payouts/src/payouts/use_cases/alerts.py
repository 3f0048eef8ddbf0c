"""The alerts of payouts: the texts for on-call staff, with severity and runbook. One alert is open for each key."""

from datetime import datetime
from typing import Final
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.documents.document import local_time
from common.messaging.alerts import Alerts
from common.primitives.ids import new_id
from payouts.domain import exceptions, found_transfers, gateway_faults
from payouts.domain.exceptions import Finding
from payouts.domain.failure_rate import (
    ALERTS_ABOVE_PERCENT,
    CLEARS_BELOW_PERCENT,
    FAILURE_RATE_KEY,
    SWITCH_FAILURES_OF_ONE_BANK,
    SWITCH_WINDOW,
    FailureRatePolicy,
    ObservedFailureRate,
    bank_key,
)

_ALERTS: Final = Alerts("payouts")


def alert_exception(uow: UnitOfWork, exception_id: UUID, finding: Finding, detail: str, about: str) -> None:
    """Raise one alert for each exception. It is raised again when the exception became worse."""
    _ALERTS.raise_alert(
        uow,
        finding.severity,
        f"Payout exception: {finding.cause.replace('_', ' ')}",
        detail,
        runbook=exceptions.runbook_of(finding.cause),
        key=exceptions.alert_key(exception_id),
        about=about,
    )


def clear_exception_alert(uow: UnitOfWork, exception_id: UUID, reason: str) -> None:
    """Clear the alert of a closed exception."""
    _ALERTS.clear_alert(uow, exceptions.alert_key(exception_id), reason)


def alert_bank_outage(uow: UnitOfWork, bank_code: str, name: str) -> None:
    """Raise SEV-1 for a bank whose switch is down, in addition to the exception of each payout."""
    minutes = int(SWITCH_WINDOW.total_seconds() / 60)
    _ALERTS.raise_alert(
        uow,
        "SEV-1",
        f"Bank switch down: {name}",
        (
            f"{SWITCH_FAILURES_OF_ONE_BANK} or more payouts to bank {bank_code} failed by its switch within "
            f"{minutes} minutes."
        ),
        runbook=exceptions.RUNBOOK,
        key=bank_key(bank_code),
        about=bank_code,
    )


def clear_bank_outage(uow: UnitOfWork, bank_code: str) -> None:
    """Clear the alert of a bank when no payout waits for it."""
    _ALERTS.clear_alert(uow, bank_key(bank_code), f"No payout to bank {bank_code} waits for its switch now.")


def alert_failure_rate(
    uow: UnitOfWork, observed: ObservedFailureRate, policy: FailureRatePolicy, now: datetime
) -> None:
    """Raise SEV-2: too many attempts of the window failed."""
    minutes = int(policy.window.total_seconds()) // 60
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        f"More than {ALERTS_ABOVE_PERCENT} % of payouts fail",
        f"{observed.failures} of {observed.attempts} attempts within {minutes} minutes until {local_time(now)} in "
        "Lagos.",
        runbook=exceptions.RUNBOOK,
        key=FAILURE_RATE_KEY,
        about="payouts",
    )


def clear_failure_rate(uow: UnitOfWork, policy: FailureRatePolicy) -> None:
    """Clear the alert after the period of calm."""
    seconds = int(policy.calm_for.total_seconds())
    _ALERTS.clear_alert(
        uow, FAILURE_RATE_KEY, f"The failure rate stayed below {CLEARS_BELOW_PERCENT} % for {seconds} s."
    )


def alert_rejected_key(uow: UnitOfWork, gateway: str) -> None:
    """Raise SEV-1: the gateway rejects our key, and payouts wait."""
    _ALERTS.raise_alert(
        uow,
        "SEV-1",
        "Payment gateway rejects our key",
        f"{gateway} answered 401 or 403. Payouts wait, and bank details cannot be changed, until it accepts the key.",
        runbook=gateway_faults.RUNBOOK,
        key=gateway_faults.key_alert(gateway),
        about="payouts",
    )


def clear_rejected_key(uow: UnitOfWork, gateway: str) -> None:
    """Clear the alert when the gateway accepts our key again."""
    _ALERTS.clear_alert(uow, gateway_faults.key_alert(gateway), f"{gateway} accepts our key.")


def alert_recorded_transfers(uow: UnitOfWork, count: int) -> None:
    """Raise SEV-2 of transfers that the gateway's list had and the database lacked. One alert for each comparison."""
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        "Transfers found at the gateway",
        f"{count} unrecorded transfers of the gateway's list were recorded. Check whether the database was restored.",
        runbook=found_transfers.RUNBOOK,
        key=f"{found_transfers.ALERT_KEY}:{new_id()}",
        about="payouts",
    )


def alert_unassigned_transfers(uow: UnitOfWork, count: int) -> None:
    """Raise SEV-1 while staff must assign transfers of the gateway."""
    _ALERTS.raise_alert(
        uow,
        "SEV-1",
        "Transfers without a payout",
        f"{count} transfers of the gateway belong to no known payout. Explain each with `explain-transfer`.",
        runbook=found_transfers.RUNBOOK,
        key=found_transfers.ALERT_KEY,
        about="payouts",
    )


def clear_unassigned_transfers(uow: UnitOfWork) -> None:
    """Clear the alert when every transfer is assigned."""
    reason = "Every transfer of the gateway's list is recorded or explained."
    _ALERTS.clear_alert(uow, found_transfers.ALERT_KEY, reason)
