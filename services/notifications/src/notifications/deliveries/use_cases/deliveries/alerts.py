"""The alerts about providers and lost deliveries, and their clearing."""

from collections.abc import Sequence
from typing import Final

from common.database.unit_of_work import UnitOfWork
from common.messaging.alerts import Alerts
from notifications.deliveries.domain.alerts import account_fault_key, delivery_lost_key, provider_paused_key
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.store.alerts import lock_open_alert
from notifications.deliveries.store.deliveries import LockedDelivery

_ALERTS: Final = Alerts("notifications")
# Alerts are locked after deliveries, by their keys.
_AFTER_DELIVERIES: Final = 2


def alert_account_fault(uow: UnitOfWork, provider: str, reason: str) -> None:
    """Raise one alert for each provider. Only an operator can correct the fault."""
    _ALERTS.raise_alert(
        uow,
        "SEV-2",
        f"Provider rejects our account: {provider}",
        f"Its messages wait, or another provider sends them, until the account is corrected. Fault: {reason}",
        runbook="provider-account-fault",
        key=account_fault_key(provider),
        about=provider,
    )


def alert_provider_paused(uow: UnitOfWork, provider: str, reason: str) -> None:
    """Raise one alert for each provider. Messages of other providers are unaffected."""
    _ALERTS.raise_alert(
        uow,
        "SEV-3",
        f"Provider does not take messages: {provider}",
        f"Its messages wait for the next attempt. Last failure: {reason}",
        runbook="notification-not-delivered",
        key=provider_paused_key(provider),
        about=provider,
    )


def clear_provider_alerts(uow: UnitOfWork, provider: str) -> None:
    """Publish the clearing of each open alert about the provider, before the commit."""
    for key in (provider_paused_key(provider), account_fault_key(provider)):
        uow.defer(_clear_alerts, key, rank=_AFTER_DELIVERIES)


async def _clear_alerts(uow: UnitOfWork, keys: Sequence[str]) -> None:
    for key in sorted(set(keys)):
        if await lock_open_alert(uow, key) is not None:
            _ALERTS.clear_alert(uow, key, "the provider takes messages again")


def alert_delivery_lost(uow: UnitOfWork, delivery: LockedDelivery, reason: str) -> None:
    """Raise one alert for each template and channel. SEV-2 for a PIN or code, which blocks a handover or sign-in."""
    number = delivery.payload.get("orderNumber")
    _ALERTS.raise_alert(
        uow,
        "SEV-2" if CATALOG[delivery.template].sensitive else "SEV-3",
        f"Message not delivered: {delivery.template} by {delivery.channel}",
        f"Notification {delivery.notification_id}{f' about order {number}' if number else ''} failed: {reason}",
        runbook="notification-not-delivered",
        key=delivery_lost_key(delivery.channel, delivery.template),
        about=str(delivery.notification_id),
    )
