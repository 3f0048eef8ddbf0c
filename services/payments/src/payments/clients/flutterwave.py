"""The payment gateway Flutterwave (API v3)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, Unpack
from urllib.parse import quote

import httpx

from common.web.provider_client import provider_client
from payments.clients import flutterwave_records as records
from payments.clients.gateway import (
    CALL_SECONDS_MAX,
    CONNECT_SECONDS_MAX,
    TRANSFER_MINIMUM_MINOR,
    GatewayRejected,
    GatewayReport,
    GatewayUnavailable,
    OpenedTransaction,
    Page,
    Row,
    accepted,
    check_transfer_amount,
    own_response,
    transfer_account,
)
from payments.domain.bank_transfers import TransferAccount
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
from providers.calls import GatewayResponse, OnKeyRejected, RequestContent
from providers.flutterwave import (
    PREFIX,
    FlutterwaveApi,
    balance_of,
    beneficiary_number,
    beneficiary_of,
    read_transfer_account,
)
from providers.gateways import FLUTTERWAVE
from providers.wire import Fields, Value, fields_of, naira_number, naira_text, text_of

# `payment_options` of our channels.
_OPTIONS: Final[Mapping[str, str]] = {"card": "card", "bank_transfer": "banktransfer", "ussd": "ussd"}
# The refunds and attempts of one transaction; a page has ten rows.
_PAGES_OF_ONE_MAX: Final = 10


class FlutterwaveGateway:
    """`PaymentGateway` by Flutterwave's API. Amounts in kobo.

    Every call ends within `seconds_max`; connecting within `connect_seconds_max`. `return_url` receives the customers
    of payments without an address of their own, because this gateway requires one. `on_key_rejected` runs after every
    call that was rejected for our key.
    """

    name: Final = FLUTTERWAVE
    confirms_webhooks = True
    known_events = records.KNOWN_EVENTS
    refund_accounts: None = None
    dispute_responses: None = None

    def __init__(
        self,
        url: str,
        secret_key: str,
        return_url: str,
        seconds_max: float = CALL_SECONDS_MAX,
        connect_seconds_max: float = CONNECT_SECONDS_MAX,
        on_key_rejected: OnKeyRejected | None = None,
        transfer_minimum_minor: int = TRANSFER_MINIMUM_MINOR,
    ) -> None:
        self.transfer_minimum_minor = transfer_minimum_minor
        self._return_url = return_url
        client = provider_client(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {secret_key}"},
            timeout=httpx.Timeout(seconds_max, connect=connect_seconds_max),
            trust_env=False,
        )
        self._api = FlutterwaveApi(client, seconds_max, on_key_rejected)

    async def close(self) -> None:
        await self._api.client.aclose()

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
        """`POST /payments`. The end of the link is its access code."""
        body: dict[str, Value] = {
            "tx_ref": reference,
            "amount": naira_text(amount_minor),
            "currency": currency,
            "redirect_url": callback_url or self._return_url,
            "customer": {"email": email},
            "meta": dict(metadata),
        }
        if channel is not None:
            body["payment_options"] = _OPTIONS.get(channel, channel)
        link = _object(await self._call("POST", "/payments", json=body)).get("link")
        if not isinstance(link, str):
            raise GatewayUnavailable("the payments response has no link")
        return OpenedTransaction(link, link.rstrip("/").rpartition("/")[2])

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
        """`POST /charges?type=bank_transfer`."""
        seconds = max(int((expires_at - now).total_seconds()), 1)
        call = self._api.charge_bank_transfer(email, amount_minor, reference, seconds, metadata)
        return transfer_account(read_transfer_account(accepted(await own_response(call)).body))

    async def find_transfer_account(self, reference: str) -> TransferAccount | None:
        """Return None: the gateway shows an account in the response to its charge only."""
        del reference
        return None

    async def find_transaction(self, reference: str) -> Charge | None:
        """Return the paid attempt under the reference, else the latest one; of an identity its own."""
        data = await self._find(GatewaySubject("charge", reference))
        return None if data is None else records.read_charge(data)

    async def find_event(self, subject: GatewaySubject) -> QueriedEvent | None:
        data = await self._find(subject)
        event_type = None if data is None else records.event_type_of_state(subject.kind, data)
        if data is None or event_type is None:
            return None
        key = f"{FLUTTERWAVE}:{data.get('id')}"
        return QueriedEvent(event_type, key, records.dump(event_type, data), records.moved_money(event_type, data))

    async def page_of_paid_transactions(self, start: datetime, end: datetime, page: int) -> Page[Charge]:
        """`GET /transactions` of the paid ones. The gateway's parameters are days."""
        query: dict[str, int | str] = {**_days(start, end), "page": page, "status": "successful"}
        return await self._page("/transactions", query, records.read_charge)

    async def start_refund(
        self, *, transaction: str, amount_minor: int, currency: str | None, note: str
    ) -> RefundUpdate:
        """`POST /transactions/:id/refund`."""
        identifier = await self._transaction_id(transaction)
        body = {"amount": naira_number(amount_minor), "comments": note}
        return records.read_refund(_object(await self._call("POST", f"/transactions/{identifier}/refund", json=body)))

    async def find_refund(self, gateway_refund_id: str) -> RefundUpdate | None:
        """`GET /refunds/:id`."""
        data = await self._find(GatewaySubject("refund", gateway_refund_id))
        return None if data is None else records.read_refund(data)

    async def list_refunds(self, transaction: str) -> Sequence[RefundUpdate]:
        """`GET /refunds` of one transaction."""
        identifier = await self._transaction_id(transaction)
        refunds: list[RefundUpdate] = []
        for page in range(1, _PAGES_OF_ONE_MAX + 1):
            listed = await self._page("/refunds", {"id": identifier, "page": page}, records.read_refund)
            for row in listed.unreadable:
                # It may be the refund that a lost response reported: sending it again could pay twice.
                if row.note is None or attempt_of_reference(row.note) is not None:
                    raise MalformedEvent(f"refund {row.key} of transaction {transaction}: {row.reason}")
            refunds += listed.rows
            if listed.is_last:
                break
        return refunds

    async def page_of_refunds(self, start: datetime, end: datetime, page: int) -> Page[RefundUpdate]:
        """`GET /refunds`. The gateway's parameters are days."""
        return await self._page("/refunds", {**_days(start, end), "page": page}, records.read_refund)

    async def find_dispute(self, dispute_id: str) -> ChargebackUpdate | None:
        """`GET /chargebacks` of one transaction."""
        data = await self._find(GatewaySubject("dispute", dispute_id))
        return None if data is None else records.read_chargeback(data)

    async def page_of_open_disputes(self, page: int) -> Page[str]:
        """`GET /chargebacks` of those that await our response."""
        query: dict[str, int | str] = {"status": records.AWAITING_STATUS, "page": page}
        return await self._page("/chargebacks", query, records.identity_of_chargeback)

    async def page_of_disputes(self, start: datetime, end: datetime, page: int) -> Page[str]:
        """`GET /chargebacks`. The gateway's parameters are days."""
        return await self._page("/chargebacks", {**_days(start, end), "page": page}, records.identity_of_chargeback)

    async def page_of_settlements(self, start: datetime, end: datetime, page: int) -> Page[Settlement]:
        """`GET /settlements`. The gateway's parameters are days. Those to the wallet are omitted: their money stays in
        our balance.
        """
        listed = await self._page("/settlements", {**_days(start, end), "page": page}, records.read_settlement)
        to_bank = [settlement for settlement in listed.rows if settlement is not None]
        return Page(to_bank, listed.unreadable, listed.is_last)

    async def page_of_settlement_charges(self, settlement_id: str, page: int) -> Page[Charge]:
        """`GET /settlements/:id` has all transactions of a settlement in one response."""
        found = await self._get(f"/settlements/{quote(_bare(settlement_id), safe='')}")
        listed = None if found is None else found.get("transactions")
        if not isinstance(listed, list):
            raise GatewayUnavailable("the settlement response has no transactions")
        return _read_rows(listed, records.read_charge, is_last=True)

    async def account_name(self, account_number: str, bank_code: str) -> str | None:
        """`POST /accounts/resolve`."""
        response = await own_response(self._api.resolve_account(account_number, bank_code))
        if not response.is_success:
            return None
        name = text_of(response.fields.get("account_name"))
        if name is None or not name.strip():
            raise GatewayUnavailable("the resolve response has no account_name")
        return name

    async def create_recipient(self, *, account_number: str, bank_code: str, account_name: str) -> str:
        """`POST /beneficiaries`."""
        code = beneficiary_of(
            accepted(await own_response(self._api.create_beneficiary(account_number, bank_code, account_name)))
        )
        if code is None:
            raise GatewayUnavailable("the beneficiaries response has no id")
        return code

    async def start_transfer(self, *, reference: str, recipient_code: str, amount_minor: int) -> TransferUpdate:
        """`POST /transfers` to a beneficiary."""
        check_transfer_amount(amount_minor, self.transfer_minimum_minor)
        number = beneficiary_number(recipient_code)
        if number is None:
            raise GatewayRejected(400, "recipient_invalid: the code is not one of this gateway")
        response = accepted(await own_response(self._api.transfer(reference, number, amount_minor, "Refund")))
        return records.read_transfer(_object(response.data))

    async def find_transfer(self, reference: str) -> TransferUpdate | None:
        """`GET /transfers` of one reference."""
        data = await self._find(GatewaySubject("transfer", reference))
        return None if data is None else records.read_transfer(data)

    async def balance_minor(self, currency: str) -> int:
        """`GET /balances/:currency`: the amount that can be spent now."""
        balance_minor = balance_of(accepted(await own_response(self._api.balance(currency))))
        if balance_minor is None:
            raise GatewayUnavailable("the balance is not a whole number of kobo")
        return balance_minor

    async def _transaction_id(self, transaction: str) -> str:
        """Return the number of a transaction that is named by its id or its reference."""
        if transaction.startswith(PREFIX):
            return quote(_bare(transaction), safe="")
        data = await self._find_transaction(transaction)
        if data is None:
            raise GatewayRejected(404, "no transaction has this reference")
        return str(data.get("id"))

    async def _find(self, subject: GatewaySubject) -> Fields | None:
        """Return the object of a subject, None when the gateway has none."""
        key = subject.key
        if subject.kind == "transfer":
            return await self._find_listed("/transfers", {"reference": key}, "reference", key)
        if subject.kind == "dispute":
            identifier, _, flw_ref = _bare(key).partition("@")
            return await self._find_listed("/chargebacks", {"flw_ref": flw_ref}, "id", identifier)
        if subject.kind == "refund":
            return await self._get(f"/refunds/{quote(_bare(key), safe='')}")
        # An identity ends with the id.
        key = key.rpartition("/")[2]
        if key.startswith(PREFIX):
            return await self._get(f"/transactions/{quote(_bare(key), safe='')}/verify")
        return await self._find_transaction(key)

    async def _find_transaction(self, reference: str) -> Fields | None:
        """Find a transaction. A customer may try several times under one reference: the paid attempt counts, else the
        latest.
        """
        latest = await self._get("/transactions/verify_by_reference", params={"tx_ref": reference})
        if latest is None or latest.get("status") == "successful":
            return latest
        query: dict[str, int | str] = {"tx_ref": reference, "status": "successful"}
        paid = await self._find_listed("/transactions", query, "tx_ref", reference)
        # The list has no metadata.
        return latest if paid is None else await self._get(f"/transactions/{paid.get('id')}/verify")

    async def _find_listed(self, path: str, query: Mapping[str, int | str], field: str, value: str) -> Fields | None:
        """Return the row of a filtered list. Rows of other values mean that the filter was ignored, and nothing follows
        from them.
        """
        rows, _ = await self._list(path, query)
        found = next((row for row in rows if str(row.get(field)) == value), None)
        if found is None and any(field != "id" for _ in rows):
            raise GatewayUnavailable(f"{path} returned rows of other values")
        return found

    async def _page(self, path: str, query: Mapping[str, int | str], read: Callable[[Fields], Row]) -> Page[Row]:
        rows, is_last = await self._list(path, query)
        return _read_rows(rows, read, is_last=is_last)

    async def _list(self, path: str, query: Mapping[str, int | str]) -> tuple[list[Fields], bool]:
        """Return the rows of a page, and whether it is the last."""
        body = (await self._send("GET", path, params=query)).body
        listed, meta = body.get("data"), body.get("meta")
        info = meta.get("page_info") if isinstance(meta, dict) else None
        if not isinstance(listed, list) or not isinstance(info, dict):
            raise GatewayUnavailable(f"the response of {path} is not a page")
        page, pages = info.get("current_page"), info.get("total_pages")
        if not isinstance(page, int) or not isinstance(pages, int):
            raise GatewayUnavailable(f"the response of {path} has no page numbers")
        return [fields_of(row) for row in listed], page >= pages

    async def _get(self, path: str, **content: Unpack[RequestContent]) -> Fields | None:
        """Return an object; None when the gateway has none. Its status for an unknown one is 400 or 404."""
        try:
            return _object(await self._call("GET", path, **content))
        except GatewayRejected as rejection:
            if rejection.status == 404 or "no transaction was found" in rejection.message.lower():
                return None
            raise

    async def _call(self, method: str, path: str, **content: Unpack[RequestContent]) -> Value:
        return (await self._send(method, path, **content)).data

    async def _send(self, method: str, path: str, **content: Unpack[RequestContent]) -> GatewayResponse:
        """Return a success. Raises GatewayUnavailable and GatewayRejected."""
        return accepted(await own_response(self._api.send(method, path, **content)))


def _read_rows(rows: Sequence[Value | Fields], read: Callable[[Fields], Row], *, is_last: bool) -> Page[Row]:
    readable: list[Row] = []
    unreadable: list[UnreadableRow] = []
    for row in map(fields_of, rows):
        try:
            readable.append(read(row))
        except MalformedEvent as fault:
            unreadable.append(records.unreadable_row(row, str(fault)))
    return Page(readable, unreadable, is_last)


def _bare(identifier: str) -> str:
    return identifier.removeprefix(PREFIX)


def _days(start: datetime, end: datetime) -> dict[str, str]:
    """Return the days of a period. A day more at each end covers the gateway's time zone."""
    day = timedelta(days=1)
    return {"from": (start - day).date().isoformat(), "to": (end + day).date().isoformat()}


def _object(value: Value) -> Fields:
    if not isinstance(value, dict):
        raise GatewayUnavailable("the response is not an object")
    return value
