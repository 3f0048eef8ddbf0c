"""Responses of staff to a dispute: evidence, and its resolution. Amounts in the currency's minor unit.

A dispute is lost when the gateway has no response by its date (`dueAt`). `chargeback_responses` records the decision
of finance, with its author, before the first call; the worker sends it. Evidence is sent to the gateway as fields,
any number of times. A resolution uploads its file to the address that the gateway names, without our key, and then
accepts or contests the claim. An attempt without a response is repeated after 2, 4, 8 and every 15 min; before the
repetition the gateway is queried for a resolution, because it accepts one only. Evidence and file are erased when the
response is final; its hash, author and status stay. One user responds, because only the gateway's decision moves
money, and because a dispute without a response is lost as a whole. An amount above what refunds left of the charge is
not accepted. One SEV-1 alert precedes the date (`CHARGEBACK_ALERT_BEFORE_DUE_HOURS`), and the response closes it; a
response in the gateway's dashboard counts. A dispute whose webhook is lost is found by `query_disputes`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal
from uuid import UUID

from common.primitives.problems import InvalidParam, ValidationFailed
from payments.domain.errors import ResponseInDashboard, ResponseNotAccepted
from providers.gateways import FLUTTERWAVE, GatewayName

Resolution = Literal["accept", "contest"]
ResponseKind = Literal["evidence", "resolution"]

# With its base64 and the rest of the request below the gateway's maximum of a JSON body (256 KiB).
ATTACHMENT_BYTES_MAX: Final = 180_000
# Longer than all calls of one attempt together: of two workers one sends a response.
RETRY_FIRST: Final = timedelta(minutes=2)
# A dispute allows hours, so a gateway that recovers must get the response soon after.
RETRY_LONGEST: Final = timedelta(minutes=15)
# Gateways without responses in their API: staff respond in the dashboard, and queries show the response.
DASHBOARDS: Final[Mapping[GatewayName, str]] = {FLUTTERWAVE: "Flutterwave's dashboard (Transactions, Chargebacks)"}
_MEDIA_TYPES: Final = {b"%PDF-": "application/pdf", b"\x89PNG\r\n": "image/png", b"\xff\xd8\xff": "image/jpeg"}


@dataclass(frozen=True, slots=True)
class DisputeEvidence:
    """The buyer and the delivery, for the payer's bank. `delivery_date` is an ISO 8601 date."""

    customer_email: str
    customer_name: str
    customer_phone: str
    service_details: str
    delivery_address: str | None = None
    delivery_date: str | None = None


@dataclass(frozen=True, slots=True)
class RequestedResolution:
    """A resolution as staff request it. `accept` without an amount returns all that is disputed."""

    resolution: Resolution
    message: str
    amount_minor: int | None
    attachment: bytes


@dataclass(frozen=True, slots=True)
class DisputeResolution:
    """Our resolution of a dispute. `accept` returns `amount_minor` to the payer; `contest` returns nothing, and the
    bank decides.

    `evidence_id` is the gateway's id of evidence that was sent before.
    """

    resolution: Resolution
    message: str
    amount_minor: int
    attachment: bytes
    evidence_id: str | None


@dataclass(frozen=True, slots=True)
class RespondableChargeback:
    """A dispute that staff respond to, its row locked, over all its orders.

    `unrefunded_minor`: the part of its charge that no refund returned.
    """

    id: UUID
    identity: str
    amount_minor: int
    status: str
    has_response: bool
    is_submitting: bool
    unrefunded_minor: int
    gateway: GatewayName


def check_respondable(chargeback: RespondableChargeback) -> None:
    """Raise ResponseNotAccepted (409), and ResponseInDashboard (422) for a gateway whose API accepts no response."""
    if chargeback.status != "opened":
        raise ResponseNotAccepted(f"The dispute is decided: {chargeback.status}.")
    if chargeback.has_response:
        raise ResponseNotAccepted("The dispute has its response; the bank decides.")
    if chargeback.gateway in DASHBOARDS:
        raise ResponseInDashboard(DASHBOARDS[chargeback.gateway])
    if chargeback.is_submitting:
        raise ResponseNotAccepted("An earlier response is being sent to the gateway. Try again in a few minutes.")
    if chargeback.identity.startswith("transaction:"):
        raise ResponseNotAccepted("The gateway gave this dispute no id: respond in its dashboard.")


def how_to_respond(gateway: GatewayName) -> str:
    """Return the instruction of the alerts about a dispute without a response."""
    dashboard = DASHBOARDS.get(gateway)
    return "Send evidence and a resolution." if dashboard is None else f"Respond in {dashboard}."


def check_accepted_amount(chargeback: RespondableChargeback, amount_minor: int) -> None:
    """Raise ValidationFailed for more than is disputed, or than refunds left of the charge: no money returns twice."""
    if amount_minor > chargeback.amount_minor:
        raise _InvalidAmount(f"must not exceed the {chargeback.amount_minor} that are disputed")
    if amount_minor > chargeback.unrefunded_minor:
        raise _InvalidAmount(
            f"must not exceed the {max(chargeback.unrefunded_minor, 0)} that refunds left of the charge; "
            "contest the dispute with the refund as evidence"
        )


def media_type_of(attachment: bytes) -> str | None:
    """`application/pdf`, `image/png` or `image/jpeg` by the first bytes; None for any other file."""
    return next((kind for start, kind in _MEDIA_TYPES.items() if attachment.startswith(start)), None)


def retry_delay(attempts: int) -> timedelta:
    """Return the time from one attempt to the next: doubled each time, up to a maximum."""
    return min(RETRY_FIRST * (1 << min(attempts - 1, 8)), RETRY_LONGEST)


class _InvalidAmount(ValidationFailed):
    def __init__(self, reason: str) -> None:
        super().__init__(f"amountMinor: {reason}", invalid_params=[InvalidParam("amountMinor", reason)])
