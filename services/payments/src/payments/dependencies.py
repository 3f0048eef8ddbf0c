"""The dependencies of endpoints, consumers, timers and commands, made by the composition root."""

from dataclasses import dataclass
from datetime import timedelta

from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from common.primitives.cursors import CursorSigner
from common.primitives.waiting import Wakeups
from payments.clients.gateway import Gateways
from payments.domain.charges import SurchargeBound
from payments.streams.webhook_processor import WebhookProcessor


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The open resources and the settings of a process."""

    clock: Clock
    database: Database
    cursors: CursorSigner
    gateways: Gateways
    allowed_origins: tuple[str, ...]
    webhook_secrets: tuple[str, ...]
    signature_header: str
    flutterwave_webhook_hashes: tuple[str, ...]
    surcharge_bound: SurchargeBound
    webhooks: WebhookProcessor
    placed: Wakeups
    """Wakes buyers whose order or purchase was recorded in this process."""
    webhook_retention: timedelta
    chargeback_alert_lead: timedelta
    withdrawal_approval_above_minor: int
    goodwill_order_max_minor: int
