"""What the doors of the service are given by its composition root."""

from dataclasses import dataclass
from datetime import timedelta

from common.database.unit_of_work import Database
from common.primitives.clock import Clock
from payments.clients.gateway import PaymentGateway
from payments.domain.charges import SurchargeBound


@dataclass(frozen=True, slots=True)
class Dependencies:
    """Everything that is open in a process of this service."""

    clock: Clock
    database: Database
    gateway: PaymentGateway
    allowed_origins: tuple[str, ...]
    webhook_secrets: tuple[str, ...]
    surcharge_bound: SurchargeBound
    webhooks_kept: timedelta
