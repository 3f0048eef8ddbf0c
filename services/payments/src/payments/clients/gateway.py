"""The port to a payment gateway: calls, and the parsing of its responses and webhooks, without a gateway's own format.

Never called inside a unit of work: decide and commit, call, record (contract section 14.7). Amounts in minor units.

`GATEWAY_PROVIDER` selects the gateway of new payments. Intent, reference, webhook, charge and reconciliation case
record theirs (`gateway`); refunds, polls and disputes go to the gateway of the charge, and `reconcile` runs for each.
Flutterwave is active while `FLUTTERWAVE_SECRET_KEY` is set. Its webhooks prove only that something changed:
`confirm_webhook` queries the gateway and files the response as a webhook of its own (decision 45).

`clients/paystack.py` makes Paystack's calls and `clients/paystack_records.py` reads its objects; everything else sees
the records of `domain/` only. The facts of Paystack's API are schemas in `testkit/providers/paystack`; the tests
check every call and response of transactions and refunds against them (decision 39).
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Generic, Protocol, TypeVar

from common.primitives.problems import Unavailable
from payments.domain.bank_transfers import TransferAccount
from payments.domain.chargeback_responses import DisputeEvidence, DisputeResolution
from payments.domain.chargebacks import ChargebackUpdate
from payments.domain.charges import Charge
from payments.domain.reconciliation import UnreadableRow
from payments.domain.refunds import RefundEvent, RefundUpdate
from payments.domain.revisions import GatewaySubject, QueriedEvent
from payments.domain.settlements import Settlement
from payments.domain.transfers import TransferUpdate
from payments.domain.webhooks import Arrival
from providers import records
from providers.calls import GatewayResponse, NoResponse
from providers.gateways import GatewayName

# The smallest transfer of both gateways, in kobo.
TRANSFER_MINIMUM_MINOR: Final = 10_000
# A buyer waits for `open_transaction`: a longer call ends with 503 and Retry-After.
CALL_SECONDS_MAX: Final = 8.0
CONNECT_SECONDS_MAX: Final = 2.0

# These statuses are about our key, our rate or a timeout, not about the request.
_NOT_ABOUT_THE_REQUEST: Final = frozenset({401, 403, 408, 425, 429})

Row = TypeVar("Row")
# A webhook's content.
GatewayReport = Charge | RefundUpdate | RefundEvent | TransferUpdate | ChargebackUpdate


class GatewayUnavailable(Unavailable):
    """The gateway returned no usable response. The request may or may not have had its effect."""

    detail = "The payment gateway is temporarily unavailable. Try again."

    def __init__(self, cause: str) -> None:
        super().__init__(retry_after_seconds=5)
        self.cause = cause

    def __str__(self) -> str:
        return self.cause


class GatewayKeyRejected(GatewayUnavailable):
    """The gateway does not accept our key: an operator must correct it. The request had no effect."""

    detail = (
        "The payment gateway cannot be used right now, because of a fault on our side. Nothing was charged or "
        "changed, and our team is alerted. Try again later."
    )


class GatewayRejected(Exception):
    """The gateway rejected the request, which had no effect. Has its status, its message, and its code and kind for the
    cause, if any.
    """

    def __init__(self, status: int, message: str, code: str | None = None, kind: str | None = None) -> None:
        super().__init__(f"{status}: {message}")
        self.status, self.message, self.code, self.kind = status, message, code, kind


@dataclass(frozen=True, slots=True)
class OpenedTransaction:
    """The gateway's payment page."""

    authorization_url: str
    access_code: str


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A page of one of the gateway's lists. Staff check the rows that lack a required field."""

    rows: Sequence[Row]
    unreadable: Sequence[UnreadableRow]
    is_last: bool


class GatewayEvents(Protocol):
    """The reading of webhooks, without a call. Bodies have any shape: only `read_event` raises, and only
    MalformedEvent.
    """

    @property
    def name(self) -> GatewayName:
        """The name that is stored with all objects of this gateway."""

    @property
    def confirms_webhooks(self) -> bool:
        """Return whether a webhook only causes a query: its signature does not cover its content, or its content is
        incomplete.
        """

    @property
    def known_events(self) -> frozenset[str]:
        """The documented event types; any other one is filed, counted as `other`, and ignored."""

    def identify(self, raw: bytes) -> Arrival:
        """Return the webhook's key and event type; the hash of its bytes when it names neither event nor subject."""

    def subject_of(self, event_type: str, raw: bytes) -> GatewaySubject | None:
        """Return the subject of a webhook; None for an event that the gateway cannot be queried for."""

    def read_event(self, webhook_id: str, event_type: str, raw: bytes) -> GatewayReport | None:
        """Return the webhook's content; None for an event that changes nothing here. Raises MalformedEvent without a
        required field.

        A paid charge without a usable reference gets the webhook's id as its reference, so that its money is posted.
        """


class Charges(Protocol):
    """Payments by buyers."""

    async def open_transaction(
        self,
        *,
        email: str,
        amount_minor: int,
        currency: str,
        reference: str,
        callback_url: str | None,
        channel: str | None,
        metadata: Mapping[str, str],
    ) -> OpenedTransaction:
        """Open a payment under our reference; the gateway returns the metadata with the charge."""

    async def charge_bank_transfer(
        self,
        *,
        email: str,
        amount_minor: int,
        reference: str,
        now: datetime,
        expires_at: datetime,
        metadata: Mapping[str, str],
    ) -> TransferAccount | None:
        """Open an account for one payment in naira under our reference, until `expires_at` if the gateway can.

        None when its response names no account. A reference that was charged before is GatewayUnavailable.
        """

    async def find_transfer_account(self, reference: str) -> TransferAccount | None:
        """Return the account of a charge by bank transfer that is not paid; None when the gateway shows none."""

    async def find_transaction(self, reference: str) -> Charge | None:
        """Return the state of the payment with our reference. An identity of a charge names one of several."""

    async def find_event(self, subject: GatewaySubject) -> QueriedEvent | None:
        """Return the subject's present state as the event of its webhook; None while it is undecided, and when there is
        none.

        Raises GatewayUnavailable and GatewayRejected only: `read_event` reads the body.
        """

    async def page_of_paid_transactions(self, start: datetime, end: datetime, page: int) -> Page[Charge]:
        """Return the paid transactions opened in a period. Pages start at 1."""


class Refunds(Protocol):
    """Refunds of transactions."""

    async def start_refund(
        self, *, transaction: str, amount_minor: int, currency: str | None, note: str
    ) -> RefundUpdate:
        """Refund a part of a transaction (its reference or id); without a currency, in the transaction's own."""

    async def find_refund(self, gateway_refund_id: str) -> RefundUpdate | None:
        """Return the refund with the gateway's id."""

    async def list_refunds(self, transaction: str) -> Sequence[RefundUpdate]:
        """Return the refunds of one transaction, newest first. An unreadable one raises MalformedEvent unless its note
        is another's than ours.
        """

    async def page_of_refunds(self, start: datetime, end: datetime, page: int) -> Page[RefundUpdate]:
        """Return the refunds of a period. Pages start at 1."""


class RefundAccounts(Protocol):
    """Refunds that wait for an account of the payer."""

    async def retry_refund(self, gateway_refund_id: str, recipient_code: str, currency: str) -> RefundUpdate:
        """Pay a refund that needs the payer's account to a registered recipient. The gateway has one refund, however
        often called.
        """


class Disputes(Protocol):
    """Claims of payers, as their banks decide them."""

    async def find_dispute(self, dispute_id: str) -> ChargebackUpdate | None:
        """Return the present state of a dispute."""

    async def page_of_open_disputes(self, page: int) -> Page[str]:
        """Return the ids of the disputes that await our response. Pages start at 1."""

    async def page_of_disputes(self, start: datetime, end: datetime, page: int) -> Page[str]:
        """Return the ids of the disputes opened in a period, in any state. Pages start at 1."""


class DisputeResponses(Protocol):
    """Our responses to claims."""

    async def add_dispute_evidence(self, dispute_id: str, evidence: DisputeEvidence) -> str | None:
        """Send evidence for a disputed charge; repeatable. Returns the gateway's id of it, if it has one."""

    async def resolve_dispute(self, dispute_id: str, resolution: DisputeResolution) -> None:
        """Upload the attachment, then accept or contest the claim. The gateway accepts one resolution of a dispute."""


class Settlements(Protocol):
    """The gateway's payments to our bank account."""

    async def page_of_settlements(self, start: datetime, end: datetime, page: int) -> Page[Settlement]:
        """Return the settlements of a period to our bank account. Pages start at 1."""

    async def page_of_settlement_charges(self, settlement_id: str, page: int) -> Page[Charge]:
        """Return the charges of a settlement. Pages start at 1."""


class Transfers(Protocol):
    """Transfers of our balance to accounts."""

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """Return the name of an account's owner; None when the bank has no such account. Any other fault is
        GatewayUnavailable.
        """

    async def create_recipient(self, *, account_number: str, bank_code: str, account_name: str) -> str:
        """Return the gateway's code for a naira account; repeatable."""

    @property
    def transfer_minimum_minor(self) -> int:
        """The smallest transfer that the gateway sends."""

    async def start_transfer(self, *, reference: str, recipient_code: str, amount_minor: int) -> TransferUpdate:
        """Transfer naira to a recipient, under a unique reference. An amount below the minimum is rejected without a
        call.
        """

    async def find_transfer(self, reference: str) -> TransferUpdate | None:
        """Return the state of the transfer with our reference."""

    async def balance_minor(self, currency: str) -> int:
        """Our balance at the gateway."""


class PaymentGateway(GatewayEvents, Charges, Refunds, Disputes, Settlements, Transfers, Protocol):
    """One gateway's API under our secret key. Every call ends within a bounded time, however slowly its response
    arrives.

    Every call raises GatewayUnavailable and GatewayRejected; one that returns a record raises MalformedEvent when it
    lacks a required field. `find_...` returns None when the gateway has no such record. GatewayUnavailable is
    GatewayKeyRejected when the gateway does not accept our key; the adapter's hook has reported it then.
    """

    @property
    def refund_accounts(self) -> RefundAccounts | None:
        """None when no refund of this gateway waits for an account."""

    @property
    def dispute_responses(self) -> DisputeResponses | None:
        """None when staff respond in the gateway's dashboard."""

    async def close(self) -> None: ...


async def own_response(call: Awaitable[GatewayResponse]) -> GatewayResponse:
    """Return the gateway's own response to a request. Raises GatewayUnavailable.

    A proxy's 404 must never cause a second payment: only the gateway's own format says something about the request.
    """
    try:
        response = await call
    except NoResponse as error:
        raise GatewayUnavailable(str(error)) from error
    if response.rejects_key:
        raise GatewayKeyRejected(f"{response.call}: {response.status}")
    if response.status >= 500 or response.status in _NOT_ABOUT_THE_REQUEST or response.own_status is None:
        raise GatewayUnavailable(f"{response.call}: {response.status}")
    return response


def accepted(response: GatewayResponse) -> GatewayResponse:
    """Return the response to a request that the gateway executed. Raises GatewayRejected."""
    if not response.is_success:
        raise GatewayRejected(response.status, response.message, response.code, response.kind)
    return response


def transfer_account(found: records.TransferAccount | None) -> TransferAccount | None:
    """Return the account of a charge by bank transfer, if the gateway's response has one."""
    if found is None:
        return None
    return TransferAccount(
        found.bank_name, found.account_number, found.account_name, found.amount_minor, found.expires_at
    )


def check_transfer_amount(amount_minor: int, minimum_minor: int) -> None:
    """Raise GatewayRejected for an amount that the gateway never transfers."""
    if amount_minor < minimum_minor:
        raise GatewayRejected(400, f"amount_below_minimum: the gateway transfers at least {minimum_minor} kobo")


class Gateways:
    """The active gateways: new payments go to one, and everything else to the gateway of its payment."""

    def __init__(self, adapters: Sequence[PaymentGateway], for_new_payments: GatewayName) -> None:
        self._adapters: dict[GatewayName, PaymentGateway] = {adapter.name: adapter for adapter in adapters}
        self.for_new_payments: GatewayName = for_new_payments

    def of(self, name: GatewayName) -> PaymentGateway:
        """Return the gateway of this name. Raises GatewayUnavailable when its key is not set."""
        adapter = self._adapters.get(name)
        if adapter is None:
            raise GatewayUnavailable(f"the gateway {name} is not configured")
        return adapter

    def all(self) -> Sequence[PaymentGateway]:
        return list(self._adapters.values())
