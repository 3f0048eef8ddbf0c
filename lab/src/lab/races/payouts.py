"""The races on one payout: actions and situations by the tables of transitions of transfers and payouts."""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from contracts.demo import ADA
from lab.races.actions import Action, End, Situation, command, nothing, response_of, timer, webhook
from lab.races.marketplace import RacingMarketplace
from lab.races.vendors import VENDORS, next_sale, next_vendor
from lab.stepped.actions import (
    APPROVE_RECONCILIATION,
    CANCEL_PAYOUT,
    DISPATCH_PAYOUTS,
    REASON,
    REJECT_RECONCILIATION,
    RESET_PAYOUT,
    Command,
    Facts,
    reconcile,
    set_bank_details,
    wallet,
)
from lab.stepped.actors import CHECKER, MAKER, OPS, User
from lab.stepped.scenarios.steps import added, unique_minor

_BANK_DETAILS: Final = "/api/vendors/{vendorId}/bank-details"
_EXCEPTION: Final = "/api/payout-exceptions/{exception}"
_AMOUNT_MINOR: Final = 20_000
# Most of the vendor's part of a sale.
_OF_A_SALE_MINOR: Final = 45_000_000
# More than all vendors of a batch have in their last payouts.
_LISTED: Final = "200"
# Longer than the back-off of a reset, and than every lease.
_LATER: Final = timedelta(hours=2)
_TIMES: Final = 2
_UNDER_WAY: Final = ("received", "otp")
_BANK: Final = "058"
_OTHER_EVENT: Final = 1_000_000_000
_ALL_DUE: Final = "UPDATE payout_transfers SET due_at = $2 WHERE payout_id = ANY ($1) AND due_at IS NOT NULL"
_ATTEMPTS: Final = "SELECT status FROM payout_transfers WHERE payout_id = $1 ORDER BY attempt"


# The actions


def _webhook(name: str, causes: str, **changes: Any) -> Action:
    """Return a signed webhook about the current attempt; `changes` are fields of it, as the gateway has them or not."""

    def body_of(payout: Facts) -> bytes:
        sent = json.loads(payout["webhook"])
        event = f"transfer.{changes['status']}"
        if event != sent["event"] or len(changes) > 1:
            # An event that was not received before.
            sent["data"]["id"] += _OTHER_EVENT
        sent["data"] |= changes
        return json.dumps({**sent, "event": event}).encode()

    return webhook(name, causes, body_of)


async def _due(market: RacingMarketplace, payout: Facts) -> None:
    """Make the worker's next query or submission of this payout due, and of no other one."""
    due = (
        "UPDATE payout_transfers SET due_at = CASE payout_id WHEN $1 THEN $2 ELSE $2 + $3::interval END"
        " WHERE payout_id = $1 AND due_at IS NOT NULL OR due_at <= $2"
    )
    await market.databases["payouts"].execute(due, payout["id"], market.clock.now(), _LATER)


async def _call_fails(market: RacingMarketplace, payout: Facts) -> None:
    """Let the gateway accept the next transfer of this amount, and respond with an error."""
    await market.sandbox.set_faults(transfer_call={"error_after": True, "times": 1, "match": payout["amountMinor"]})


async def _dispatch(market: RacingMarketplace, payout: Facts) -> str:
    body = {"payoutIds": [payout["id"]]}
    return response_of(await market.send("POST", DISPATCH_PAYOUTS.path, MAKER, body))


DISPATCH: Final = Action("dispatch", "command", frozenset({"submission_started", "pending"}), _dispatch)
DISPATCH_UNANSWERED: Final = Action(
    "dispatch_unanswered", "command", frozenset({"submission_started", "call_unanswered"}), _dispatch, _call_fails
)


async def _disputed(market: RacingMarketplace, payout: Facts) -> None:
    payout["dispute"] = (await market.sandbox.act(f"charges/{payout['charge']}/dispute"))["id"]
    payout["chargeback"] = await market.webhooks.claim(payout["charge"])


async def _change_bank_details(market: RacingMarketplace, payout: Facts) -> str:
    account = {"accountNumber": _account_number(payout), "bankCode": _BANK}
    return response_of(await market.send("PUT", _BANK_DETAILS.format(**payout), payout["vendor"], account))


async def _account_exists(market: RacingMarketplace, payout: Facts) -> None:
    await market.sandbox.name_account(_BANK, _account_number(payout), ADA.legal_name)


def _account_number(payout: Facts) -> str:
    return f"{payout['amountMinor']:010d}"


CHARGEBACK: Final = webhook("chargeback", "", lambda payout: bytes(payout["chargeback"]), prepare=_disputed)
BANK_DETAILS: Final = Action("bank_details", "command", frozenset(), _change_bank_details, _account_exists)
CANCEL: Final = command("cancel", "amount_returned withdrawn", None, CANCEL_PAYOUT)
QUARANTINE: Final = command(
    "quarantine",
    "amount_returned withdrawn held",
    MAKER,
    Command(f"{_BANK_DETAILS}/quarantine", {**REASON, "payoutId": "id"}),
)
RESET: Final = command("reset", "closed", OPS, RESET_PAYOUT)
APPROVE: Final = command("approve_return", "amount_returned closed", CHECKER, APPROVE_RECONCILIATION)
REJECT: Final = command("reject_return", "", CHECKER, REJECT_RECONCILIATION)
QUERY: Final = command(
    "query_exception", "queried success_confirmed transfer_succeeded closed", OPS, Command(f"{_EXCEPTION}/query")
)
CLOSE: Final = command("close_exception", "closed", OPS, Command(f"{_EXCEPTION}/close", {"evidence": "a race"}))
SUCCESS: Final = _webhook(
    "success_webhook",
    "success success_of_processed success_after_reversal success_after_restitution success_of_recovered "
    "transfer_succeeded",
    status="success",
)
FAILED: Final = _webhook("failed_webhook", "failed", status="failed")
REVERSED: Final = _webhook("reversed_webhook", "reversed", status="reversed")
MISMATCH: Final = _webhook("mismatch_webhook", "mismatch", status="success", amount=1)
COMPARE: Final = timer("compare_transfers", "queried", "payouts-worker", "compare-transfers", _due)


def _due_timer(causes: str) -> Action:
    return timer("due_transfers", f"claimed queried {causes}", "payouts-worker", "claim-due-transfers", _due)


# The situations


async def _requested(market: RacingMarketplace) -> Facts:
    return await _request(market, await next_vendor(market), unique_minor(_AMOUNT_MINOR))


async def _requested_of_a_sale(market: RacingMarketplace) -> Facts:
    """Return a payout of most of a vendor's part of an order, whose charge may be disputed."""
    vendor, order = await next_sale(market)
    return {**await _request(market, vendor, unique_minor(_OF_A_SALE_MINOR)), "charge": order["reference"]}


async def _request(market: RacingMarketplace, vendor: User, amount_minor: int) -> Facts:
    before = await wallet(market, vendor)
    payout = await market.post("/api/payouts", vendor, {"amountMinor": amount_minor})
    await market.run_until_idle()
    vendor_id = vendor.claims["vendor_id"]
    return {**payout, "amountMinor": amount_minor, "before": before, "vendor": vendor, "vendorId": vendor_id}


async def _submitted(market: RacingMarketplace, fault: Mapping[str, Any] | None = None) -> Facts:
    """Return a payout whose transfer was called for; with a fault rule of the call its result may be unknown."""
    payout = await _requested(market)
    if fault is None:
        await _dispatch(market, payout)
        await market.run_until_idle()
    else:
        async with market.alone:
            await market.sandbox.set_faults(transfer_call={**fault, "times": 1, "match": payout["amountMinor"]})
            await _dispatch(market, payout)
    for transfer in await _transfers(market, payout):
        payout["reference"] = transfer["reference"]
    return payout


async def _ended(market: RacingMarketplace, act: str, fault: Mapping[str, Any] | None = None) -> Facts:
    """Return a payout whose transfer the bank has ended; the webhook is on its way."""
    return await _acted(market, await _submitted(market, fault), act)


async def _acted(market: RacingMarketplace, payout: Facts, act: str) -> Facts:
    """Do this with the transfer as the bank; the webhook is on its way."""
    await market.sandbox.act(f"transfers/{payout['reference']}/{act}")
    payout["webhook"] = await market.webhooks.claim(payout["reference"])
    return payout


async def _bank_returns(market: RacingMarketplace, payout: Facts) -> None:
    await _acted(market, payout, "reverse")


async def _queried_as(market: RacingMarketplace, status: str) -> Facts:
    """Under way, and the gateway will respond to queries with this status."""
    payout = await _submitted(market)
    rule = {"data": {"status": status}, "match": payout["reference"]}
    return {**payout, "rule": rule, "bank": "succeed" if status in _UNDER_WAY else "fail"}


async def _gateway_responds(market: RacingMarketplace, payout: Facts) -> None:
    await market.sandbox.set_faults(verify_call=payout["rule"])


async def _failed(market: RacingMarketplace) -> Facts:
    """Failed for good, with an open exception and a prepared return."""
    return await _with_return(market, await _received(market, await _ended(market, "fail")))


async def _reset(market: RacingMarketplace) -> Facts:
    """Return a payout of which a new attempt is due."""
    payout = await _received(market, await _ended(market, "fail"))
    await RESET_PAYOUT.run(market, OPS, payout)
    market.clock.advance(_LATER)
    return payout


async def _processed(market: RacingMarketplace) -> Facts:
    return await _received(market, await _ended(market, "succeed"))


async def _reversed(market: RacingMarketplace) -> Facts:
    """Return a payout that was processed and reversed, with an open exception and a prepared return."""
    payout = await _acted(market, await _processed(market), "reverse")
    return await _with_return(market, await _received(market, payout))


async def _recovered(market: RacingMarketplace) -> Facts:
    """Return a failed payout that the bank paid after its amount was returned, and whose vendor paid it back."""
    payout = await _failed(market)
    await APPROVE_RECONCILIATION.run(market, CHECKER, payout)
    payout = await _with_return(market, await _received(market, await _acted(market, payout, "succeed")))
    await APPROVE_RECONCILIATION.run(market, CHECKER, payout)
    return {**payout, "recovered": True}


async def _recovery_returned(market: RacingMarketplace) -> Facts:
    """Return a recovered payout that the bank returned, with an open exception and a prepared return."""
    payout = await _acted(market, await _recovered(market), "reverse")
    return await _with_return(market, await _received(market, payout))


async def _received(market: RacingMarketplace, payout: Facts) -> Facts:
    await market.send_webhook(payout["webhook"])
    await market.run_until_idle()
    return payout


async def _with_return(market: RacingMarketplace, payout: Facts) -> Facts:
    found = await market.get(f"/api/payouts/{payout['id']}", MAKER)
    prepared = await reconcile(market, payout["id"])
    await market.run_until_idle()
    return {**payout, "exception": found["openException"]["id"], **prepared}


# The end


async def _transfers(market: RacingMarketplace, payout: Facts) -> list[dict[str, Any]]:
    """Return the gateway's transfers of this payout, which alone has this amount."""
    newest = await market.sandbox.listed("transfer", perPage=_LISTED)
    return [line for line in newest if line["amount"] == payout["amountMinor"]]


async def settle(market: RacingMarketplace, payouts: Sequence[Facts]) -> None:
    """End what is pending, as the bank, and let minutes pass. A chargeback is won, a quarantined account replaced."""
    await market.sandbox.set_faults()
    for payout in payouts:
        if "dispute" in payout:
            await market.sandbox.act(f"disputes/{payout['dispute']}/win")
    bank = {payout["amountMinor"]: payout.get("bank", "succeed") for payout in payouts}
    for _ in range(_TIMES):
        for transfer in await market.sandbox.listed("transfer", perPage=_LISTED):
            if transfer["status"] == "pending" and transfer["amount"] in bank:
                await market.sandbox.act(f"transfers/{transfer['reference']}/{bank[transfer['amount']]}")
        await market.databases["payouts"].execute(_ALL_DUE, [payout["id"] for payout in payouts], market.clock.now())
        await market.run_until_idle()
        market.clock.advance(_LATER)
        await market.time_passes()
    for payout in payouts:
        path = _BANK_DETAILS.format(**payout)
        if not (await market.get(path, payout["vendor"]))["verified"]:
            await set_bank_details(market, payout["vendor"], _account_number(payout), ADA.legal_name)
    await market.run_until_idle()


async def read(market: RacingMarketplace, payout: Facts) -> End:
    """Return the payout as finance sees it, the gateway's transfers, and the wallet's change in payouts."""
    found = await market.get(f"/api/payouts/{payout['id']}", MAKER)
    exception = found["openException"]
    amount_minor = payout["amountMinor"]
    async with market.alone:
        attempts = await market.databases["payouts"].fetch(_ATTEMPTS, payout["id"])
    changes = added(payout["before"], await wallet(market, payout["vendor"]))
    return End(
        {
            "status": found["status"],
            "exception": None if exception is None else exception["cause"],
            "transfers": [row["status"] for row in attempts],
            "gateway": sorted(line["status"] for line in await _transfers(market, payout)),
            "wallet": {name: change / amount_minor for name, change in changes.items()},
            "recovered": payout.get("recovered"),
        }
    )


def check(end: End) -> None:
    """Check that the bank paid at most once, and the wallet as much. Raises AssertionError."""
    facts, sent = end.facts, end.facts["gateway"].count("success")
    status, change = facts["status"], facts["wallet"]
    assert sent <= 1, "the bank paid twice"
    debited = {"availableMinor": -1.0}
    changed = f"{status}, {sent} paid, the wallet changed by {change}"
    # A reversal, and a returned recovery, are credited by a decision of staff.
    if facts["exception"] == "transfer_contradicted":
        # A late report of a success: its money waits for a decision of staff.
        assert change == {**debited, "heldMinor": 1.0}, f"contradicted, {changed}"
        assert status in ("processed", "failed"), f"contradicted, and {status}"
    elif facts["recovered"]:
        assert change in ([debited] if sent else [debited, {}]), changed
        assert status == "failed", f"recovered, and {status}"
        assert sent or change == {} or facts["exception"] == "reversed", "not credited, and nobody knows"
    elif status == "processed":
        assert change in ([debited] if sent else [debited, {}]), changed
        assert sent or "reversed" in facts["gateway"], "processed, and the bank has not paid"
    else:
        expected = {} if status == "failed" else {**debited, "inTransitMinor": 1.0}
        assert change == expected, changed
        assert not sent, f"{status}, and the bank has paid"


def _situation(name: str, state: str, prepare: Any, *actions: Action, start: Any = nothing) -> Situation:
    return Situation(name, "payout", state, prepare, actions, settle, read, check, VENDORS, start)


OF_A_SALE: Final = _situation(
    "requested of a sale", "pending", _requested_of_a_sale, DISPATCH, CANCEL, CHARGEBACK, BANK_DETAILS
)
"""Only in races of three actions: each race needs an order of its own."""
_UNANSWERED: Final = {"error_after": True}
_NOT_ACCEPTED: Final = {"error_before": True}
SITUATIONS: Final = (
    _situation("requested", "pending", _requested, DISPATCH, DISPATCH_UNANSWERED, CANCEL, QUARANTINE),
    _situation(
        "reset", "reserved", _reset, _due_timer("submission_started pending"), DISPATCH, RESET, CANCEL, QUARANTINE
    ),
    _situation(
        "paid by the bank",
        "pending",
        partial(_ended, act="succeed"),
        SUCCESS,
        FAILED,
        MISMATCH,
        _due_timer("success transfer_succeeded"),
        QUARANTINE,
    ),
    _situation(
        "failed at the bank", "pending", partial(_ended, act="fail"), FAILED, _due_timer("failed"), RESET, QUARANTINE
    ),
    *(
        _situation(
            f"queried as {status}",
            "pending",
            partial(_queried_as, status=status),
            _due_timer(status),
            QUARANTINE,
            start=_gateway_responds,
        )
        for status in ("received", "otp", "rejected", "blocked", "abandoned")
    ),
    _situation("failed", "failed", _failed, RESET, APPROVE, REJECT, QUERY, CLOSE, SUCCESS, QUARANTINE),
    _situation(
        "returned by the bank", "success", _processed, REVERSED, SUCCESS, COMPARE, QUARANTINE, start=_bank_returns
    ),
    _situation("reversed", "reversed", _reversed, APPROVE, REJECT, QUERY, CLOSE, SUCCESS),
    _situation("recovered", "success", _recovered, REVERSED, SUCCESS, COMPARE, start=_bank_returns),
    _situation("recovery returned", "reversed", _recovery_returned, APPROVE, REJECT, QUERY, SUCCESS),
    _situation(
        "unanswered",
        "unknown",
        partial(_ended, act="succeed", fault=_UNANSWERED),
        SUCCESS,
        _due_timer("success transfer_succeeded"),
        DISPATCH,
        QUARANTINE,
    ),
    _situation(
        "never accepted",
        "unknown",
        partial(_submitted, fault=_NOT_ACCEPTED),
        _due_timer("submission_started pending"),
        DISPATCH,
        CANCEL,
        QUARANTINE,
    ),
)
