"""The ten drills, and why these alerts."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from contracts.severities import Severity
from operations.drills import machines, messages, money
from operations.drills.scene import Scene


def _nothing(_: Scene) -> None:
    """No step."""


@dataclass(frozen=True, slots=True)
class Drill:
    """One drill. `name` is that of its alert and runbook.

    `tick` runs every other second until the fault is removed, `after_removal` every minute from then on.
    """

    name: str
    severity: Severity
    reason: str
    fault: str
    plant: Callable[[Scene], None]
    undo: Callable[[Scene], None]
    by_monitoring: bool = False
    """The alert is one of Prometheus, else one of `GET /api/alerts`."""
    tick: Callable[[Scene], None] = _nothing
    after_removal: Callable[[Scene], None] = _nothing


DRILLS: Final = {
    drill.name: drill
    for drill in (
        Drill(
            "audit-broken", "SEV-1", "the only sign of money that does not add up",
            "the gateway lists a charge with another amount than the ledger",
            money.plant_changed_charge, money.restore_changed_charge,
        ),
        Drill(
            "gateway-key-rejected", "SEV-1", "no buyer can pay, no vendor is paid",
            "the payment gateway rejects our key",
            money.plant_rejected_key, money.restore_key,
        ),
        Drill(
            "service-down", "SEV-1", "the most frequent cause of an outage",
            "all processes of orders are stopped",
            machines.stop_orders, machines.start_again, by_monitoring=True,
        ),
        Drill(
            "unproven-publisher", "SEV-1", "an account of the broker is misused",
            "a message names payments as its publisher and was not published by it",
            messages.plant_forged_message, messages.close_dead_letter,
        ),
        Drill(
            "backup-overdue", "SEV-2", "it is noticed on the day of the loss otherwise",
            "the metrics report the last backup of two days ago",
            machines.age_backups, machines.restore_metrics, by_monitoring=True, tick=machines.keep_backups_old,
        ),
        Drill(
            "dead-letters", "SEV-2", "an effect of an event did not happen",
            "orders publishes an event that no consumer can read",
            messages.plant_malformed_event, messages.close_dead_letter,
        ),
        Drill(
            "payout-exceptions", "SEV-2", "a vendor waits for money that left the wallet",
            "the bank rejects a transfer",
            money.plant_failed_payout, money.send_payout_again,
        ),
        Drill(
            "provider-account-fault", "SEV-2", "codes and delivery PINs do not arrive",
            "the SMS company rejects our account",
            messages.plant_rejected_account, Scene.remove_faults, after_removal=messages.request_code,
        ),
        Drill(
            "queue-without-consumer", "SEV-2", "a stopped worker delays money without an error",
            "the worker of payouts is stopped",
            machines.stop_payouts_worker, machines.start_again, by_monitoring=True,
        ),
        Drill(
            "webhook-signatures", "SEV-2", "an attack, or charges that are not processed",
            "webhooks with a wrong signature arrive",
            _nothing, _nothing, by_monitoring=True, tick=messages.send_unsigned_webhook,
        ),
    )
}  # fmt: skip
