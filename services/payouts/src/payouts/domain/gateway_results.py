"""What is said to the payment gateway, and what a call can end with, as far as money is concerned."""

from dataclasses import dataclass
from uuid import UUID

from payouts.domain.transfer_updates import TransferUpdate


@dataclass(frozen=True, slots=True)
class Recipient:
    """Where a transfer goes: the account as it is kept (sealed), its bank, and the name that the gateway resolved."""

    vendor_id: UUID
    stored_account: str
    bank_code: str
    account_name: str


@dataclass(frozen=True, slots=True)
class Reported:
    """The gateway has the transfer, and this is what it says of it."""

    update: TransferUpdate


@dataclass(frozen=True, slots=True)
class Refused:
    """A definite no: as it stands this will never be accepted."""

    reason: str


@dataclass(frozen=True, slots=True)
class Absent:
    """The gateway knows no transfer with this reference: it never accepted it."""


@dataclass(frozen=True, slots=True)
class Unclear:
    """A time-out, a 5xx, a limit: nobody here knows. Settled only by asking for the reference."""

    reason: str


SubmitResult = Reported | Refused | Unclear
VerifyResult = Reported | Absent | Unclear
