"""The payment gateway Paystack."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Final, Unpack
from urllib.parse import quote

import httpx

from common.primitives.clock import iso
from common.web.provider_client import provider_client
from payments.clients import paystack_disputes as disputes
from payments.clients import paystack_records as records
from payments.clients.gateway import (
    CALL_SECONDS_MAX,
    CONNECT_SECONDS_MAX,
    TRANSFER_MINIMUM_MINOR,
    DisputeResponses,
    GatewayRejected,
    GatewayReport,
    GatewayUnavailable,
    OpenedTransaction,
    Page,
    RefundAccounts,
    Row,
    accepted,
    check_transfer_amount,
    own_response,
    transfer_account,
)
from payments.domain.bank_transfers import TransferAccount
from payments.domain.chargeback_responses import DisputeEvidence, DisputeResolution, media_type_of
from payments.domain.chargebacks import ChargebackUpdate
from payments.domain.charges import Charge
from payments.domain.errors import MalformedEvent
from payments.domain.identifiers import attempt_of_reference
from payments.domain.reconciliation import UnreadableRow
from payments.domain.refunds import RefundUpdate
from payments.domain.revisions import GatewaySubject, QueriedEvent
from payments.domain.settlements import Settlement
from payments.domain.transfers import TransferUpdate
from payments.domain.webhooks import Arrival
from providers.calls import OnKeyRejected, RequestContent
from providers.gateways import PAYSTACK
from providers.paystack import PAGE_LENGTH, PaystackApi, balance_of, has_no_such_account, read_transfer_account
from providers.wire import Fields, Value, fields_of, identifier_of, text_of

REFUNDS_LISTED_MAX: Final = 100
_QUERIES: Final = {
    "charge": "/transaction/verify/",
    "transfer": "/transfer/verify/",
    "refund": "/refund/",
    "dispute": "/dispute/",
}
# The codes of an unknown transaction and the like, whose status is 400.
_NOT_FOUND: Final = "_not_found"
_DUPLICATE_REFERENCE: Final = "duplicate_reference"
_MOVED_MONEY: Final = frozenset({"charge.success", "refund.processed"})


class PaystackGateway:
    """`PaymentGateway` by Paystack's API. Amounts in kobo.

    Every call ends within `seconds_max`; connecting within `connect_seconds_max`. `on_key_rejected` runs after every
    call that was rejected for our key.
    """

    name: Final = PAYSTACK
    confirms_webhooks = False
    known_events = records.KNOWN_EVENTS

    def __init__(
        self,
        url: str,
        secret_key: str,
        seconds_max: float = CALL_SECONDS_MAX,
        connect_seconds_max: float = CONNECT_SECONDS_MAX,
        on_key_rejected: OnKeyRejected | None = None,
        transfer_minimum_minor: int = TRANSFER_MINIMUM_MINOR,
    ) -> None:
        self._seconds_max = seconds_max
        self.transfer_minimum_minor = transfer_minimum_minor
        timeout = httpx.Timeout(seconds_max, connect=connect_seconds_max)
        client = provider_client(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {secret_key}"},
            timeout=timeout,
            trust_env=False,
        )
        self._api = PaystackApi(client, seconds_max, on_key_rejected)
        self._uploads = provider_client(timeout=timeout, trust_env=False)

    @property
    def refund_accounts(self) -> RefundAccounts:
        return self

    @property
    def dispute_responses(self) -> DisputeResponses:
        return self

    async def close(self) -> None:
        await self._api.client.aclose()
        await self._uploads.aclose()

    def identify(self, raw: bytes) -> Arrival:
        return records.identify(raw)

    def subject_of(self, event_type: str, raw: bytes) -> GatewaySubject | None:
        return records.subject_of(event_type, raw)

    def read_event(self, webhook_id: str, event_type: str, raw: bytes) -> GatewayReport | None:
        return records.read_event(webhook_id, event_type, raw)

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
        """`POST /transaction/initialize`."""
        body: dict[str, Value] = {
            "email": email,
            "amount": amount_minor,
            "currency": currency,
            "reference": reference,
            "metadata": dict(metadata),
        }
        if callback_url is not None:
            body["callback_url"] = callback_url
        if channel is not None:
            body["channels"] = [channel]
        with _reference_unused():
            data = _object(await self._call("POST", "/transaction/initialize", json=body))
        url, access_code = data.get("authorization_url"), data.get("access_code")
        if not isinstance(url, str) or not isinstance(access_code, str):
            raise GatewayUnavailable("the initialize response has no authorization_url or access_code")
        return OpenedTransaction(url, access_code)

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
        """`POST /charge` with `bank_transfer`."""
        del now
        call = self._api.charge_bank_transfer(email, amount_minor, reference, expires_at, metadata)
        with _reference_unused():
            return transfer_account(read_transfer_account(accepted(await own_response(call)).data))

    async def find_transfer_account(self, reference: str) -> TransferAccount | None:
        """`GET /charge/:reference`."""
        try:
            return transfer_account(
                read_transfer_account(accepted(await own_response(self._api.find_charge(reference))).data)
            )
        except GatewayRejected:
            return None

    async def find_transaction(self, reference: str) -> Charge | None:
        """`GET /transaction/verify/:reference`, of an identity `GET /transaction/:id`."""
        data = await self._find(GatewaySubject("charge", reference))
        return None if data is None else _charge(data)

    async def find_event(self, subject: GatewaySubject) -> QueriedEvent | None:
        """Return what `find_transaction` reads, `verify` of transfers, `GET /refund/:id` and `GET /dispute/:id`."""
        data = await self._find(subject)
        event_type = None if data is None else records.event_of_state(subject.kind, data)
        if data is None or event_type is None:
            return None
        raw = json.dumps({"event": event_type, "data": data}).encode()
        return QueriedEvent(event_type, records.key_of(data) or "", raw, event_type in _MOVED_MONEY)

    async def page_of_paid_transactions(self, start: datetime, end: datetime, page: int) -> Page[Charge]:
        """`GET /transaction` of the paid ones, newest first. A short page is the last."""
        query: dict[str, int | str] = {
            "from": iso(start),
            "to": iso(end),
            "page": page,
            "perPage": PAGE_LENGTH,
            "status": "success",
        }
        return await self._page("/transaction", query, _charge)

    async def start_refund(
        self, *, transaction: str, amount_minor: int, currency: str | None, note: str
    ) -> RefundUpdate:
        """`POST /refund`."""
        body = {"transaction": transaction, "amount": amount_minor, "merchant_note": note}
        if currency is not None:
            body["currency"] = currency
        return records.read_refund(_object(await self._call("POST", "/refund", json=body)))

    async def retry_refund(self, gateway_refund_id: str, recipient_code: str, currency: str) -> RefundUpdate:
        """`POST /refund/retry_with_customer_details/:id` with the account of `GET /transferrecipient/:code`.

        The gateway requires its own number of the bank, which `GET /bank/resolve` returns.
        """
        recipient = _object(await self._call("GET", f"/transferrecipient/{quote(recipient_code, safe='')}"))
        details = fields_of(recipient.get("details"))
        account_number, bank_code = text_of(details.get("account_number")), text_of(details.get("bank_code"))
        if account_number is None or bank_code is None:
            raise GatewayUnavailable("the recipient has no account_number or bank_code")
        query: dict[str, int | str] = {"account_number": account_number, "bank_code": bank_code}
        bank_id = identifier_of(_object(await self._call("GET", "/bank/resolve", params=query)).get("bank_id"))
        if bank_id is None:
            raise GatewayUnavailable("the resolve response has no bank_id")
        account = {"currency": currency, "account_number": account_number, "bank_id": bank_id}
        path = f"/refund/retry_with_customer_details/{quote(gateway_refund_id, safe='')}"
        return records.read_refund(_object(await self._call("POST", path, json={"refund_account_details": account})))

    async def find_refund(self, gateway_refund_id: str) -> RefundUpdate | None:
        """`GET /refund/:id`."""
        data = await self._find(GatewaySubject("refund", gateway_refund_id))
        return None if data is None else records.read_refund(data)

    async def list_refunds(self, transaction: str) -> Sequence[RefundUpdate]:
        """`GET /refund` of one transaction."""
        query: dict[str, int | str] = {"transaction": transaction, "perPage": REFUNDS_LISTED_MAX}
        page = await self._page("/refund", query, records.read_refund)
        for row in page.unreadable:
            # It may be the refund that a lost response reported: sending it again could pay twice.
            if row.note is None or attempt_of_reference(row.note) is not None:
                raise MalformedEvent(f"refund {row.key} of transaction {transaction}: {row.reason}")
        return page.rows

    async def page_of_refunds(self, start: datetime, end: datetime, page: int) -> Page[RefundUpdate]:
        """`GET /refund`, newest first. A short page is the last."""
        query: dict[str, int | str] = {"from": iso(start), "to": iso(end), "page": page, "perPage": PAGE_LENGTH}
        return await self._page("/refund", query, records.read_refund)

    async def find_dispute(self, dispute_id: str) -> ChargebackUpdate | None:
        """`GET /dispute/:id`."""
        data = await self._find(GatewaySubject("dispute", dispute_id))
        return None if data is None else disputes.read_dispute(disputes.event_of(data), data)

    async def page_of_open_disputes(self, page: int) -> Page[str]:
        """`GET /dispute` of those that await our response."""
        return await self._page_of_disputes({"status": disputes.AWAITING_STATUS, "page": page})

    async def page_of_disputes(self, start: datetime, end: datetime, page: int) -> Page[str]:
        """`GET /dispute` of a period."""
        return await self._page_of_disputes({"from": iso(start), "to": iso(end), "page": page})

    async def add_dispute_evidence(self, dispute_id: str, evidence: DisputeEvidence) -> str | None:
        """`POST /dispute/:id/evidence`."""
        path = f"/dispute/{quote(dispute_id, safe='')}/evidence"
        data = _object(await self._call("POST", path, json=disputes.evidence_body(evidence)))
        return identifier_of(data.get("id"))

    async def resolve_dispute(self, dispute_id: str, resolution: DisputeResolution) -> None:
        """`GET /dispute/:id/upload_url`, `PUT` to that address, then `PUT /dispute/:id/resolve`."""
        path = f"/dispute/{quote(dispute_id, safe='')}"
        upload = _object(await self._call("GET", f"{path}/upload_url"))
        address, file_name = upload.get("signedUrl"), upload.get("fileName")
        if not isinstance(address, str) or not isinstance(file_name, str):
            raise GatewayUnavailable("the upload_url response has no signedUrl or fileName")
        await self._upload(address, resolution.attachment)
        await self._call("PUT", f"{path}/resolve", json=disputes.resolution_body(resolution, file_name))

    async def page_of_settlements(self, start: datetime, end: datetime, page: int) -> Page[Settlement]:
        """`GET /settlement` of our own account. A short page is the last."""
        query: dict[str, int | str] = {
            "from": iso(start),
            "to": iso(end),
            "page": page,
            "perPage": PAGE_LENGTH,
            "subaccount": "none",
        }
        return await self._page("/settlement", query, disputes.read_settlement)

    async def page_of_settlement_charges(self, settlement_id: str, page: int) -> Page[Charge]:
        """`GET /settlement/:id/transactions`. A short page is the last."""
        path = f"/settlement/{quote(settlement_id, safe='')}/transactions"
        return await self._page(path, {"page": page, "perPage": PAGE_LENGTH}, _charge)

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """`GET /bank/resolve`."""
        response = await own_response(self._api.resolve_account(account_number, bank_code))
        if has_no_such_account(response):
            return None
        name = text_of(response.fields.get("account_name"))
        if not response.is_success or name is None or not name.strip():
            raise GatewayUnavailable(f"the resolve call was answered {response.status} without an account_name")
        return name

    async def create_recipient(self, *, account_number: str, bank_code: str, account_name: str) -> str:
        """`POST /transferrecipient`."""
        response = accepted(await own_response(self._api.create_recipient(account_number, bank_code, account_name)))
        code = text_of(response.fields.get("recipient_code"))
        if code is None:
            raise GatewayUnavailable("the transferrecipient response has no recipient_code")
        return code

    async def start_transfer(self, *, reference: str, recipient_code: str, amount_minor: int) -> TransferUpdate:
        """`POST /transfer`."""
        check_transfer_amount(amount_minor, self.transfer_minimum_minor)
        response = accepted(await own_response(self._api.transfer(reference, recipient_code, amount_minor, "Refund")))
        return records.read_transfer(_object(response.data))

    async def find_transfer(self, reference: str) -> TransferUpdate | None:
        """`GET /transfer/verify/:reference`."""
        data = await self._find(GatewaySubject("transfer", reference))
        return None if data is None else records.read_transfer(data)

    async def balance_minor(self, currency: str) -> int:
        """`GET /balance`."""
        response = accepted(await own_response(self._api.balances()))
        balance_minor = balance_of(response, currency)
        if balance_minor is None:
            raise GatewayUnavailable("the balance is not a whole number")
        return balance_minor

    async def _page_of_disputes(self, query: Mapping[str, int | str]) -> Page[str]:
        """Read a page. A short page is the last; a row without an id is left out."""
        query = {**query, "perPage": PAGE_LENGTH}
        listed = await self._page("/dispute", query, lambda row: identifier_of(row.get("id")))
        return Page([found for found in listed.rows if found is not None], listed.unreadable, listed.is_last)

    async def _page(self, path: str, query: Mapping[str, int | str], read: Callable[[Fields], Row]) -> Page[Row]:
        listed = await self._call("GET", path, params=query)
        if not isinstance(listed, list):
            raise GatewayUnavailable(f"the list of {path} is not a list")
        rows: list[Row] = []
        unreadable: list[UnreadableRow] = []
        for entry in listed:
            try:
                rows.append(read(fields_of(entry)))
            except MalformedEvent as fault:
                unreadable.append(records.unreadable_row(fields_of(entry), str(fault)))
        return Page(rows, unreadable, is_last=len(listed) < int(query["perPage"]))

    async def _upload(self, address: str, content: bytes) -> None:
        """Store a file at a signed address of another host, which never gets our key. Raises GatewayUnavailable."""
        if not address.startswith(f"{self._api.client.base_url.scheme}://"):
            raise GatewayUnavailable(f"the upload address is not {self._api.client.base_url.scheme}")
        headers = {"Content-Type": media_type_of(content) or "application/octet-stream"}
        try:
            async with asyncio.timeout(self._seconds_max):
                response = await self._uploads.put(address, content=content, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, TimeoutError) as error:
            raise GatewayUnavailable(f"upload of evidence: {type(error).__name__}") from error
        if response.status_code >= 300:
            raise GatewayUnavailable(f"upload of evidence: {response.status_code}")

    async def _find(self, subject: GatewaySubject) -> Fields | None:
        path, key = _QUERIES[subject.kind], subject.key
        if subject.kind == "charge" and "/" in key:
            # Transfers into one account have one reference, under which `verify` has the first of them.
            path, key = "/transaction/", key.rpartition("/")[2]
        try:
            return _object(await self._call("GET", path + quote(key, safe="")))
        except GatewayRejected as rejection:
            if rejection.status == 404 or (rejection.code or "").endswith(_NOT_FOUND):
                return None
            raise

    async def _call(self, method: str, path: str, **content: Unpack[RequestContent]) -> Value:
        return accepted(await own_response(self._api.send(method, path, **content))).data


@contextmanager
def _reference_unused() -> Iterator[None]:
    """Raise GatewayUnavailable where the gateway knows the reference: an earlier call had its effect."""
    try:
        yield
    except GatewayRejected as rejection:
        if rejection.code == _DUPLICATE_REFERENCE:
            raise GatewayUnavailable("the reference was used by a call whose response was lost") from rejection
        raise


def _charge(data: Fields) -> Charge:
    return records.read_charge(data, f"charge.success:{identifier_of(data.get('id'))}")


def _object(value: Value) -> Fields:
    if not isinstance(value, dict):
        raise GatewayUnavailable("the response is not an object")
    return value
