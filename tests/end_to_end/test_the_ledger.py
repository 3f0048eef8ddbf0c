"""The ledger through the edge and by command: chained, reconciled, exported, and read as of an instant."""

import csv
import io
from datetime import UTC, datetime, timedelta

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace
from tests.end_to_end.steps import delivered_order, paid_order

from .conftest import Users


async def test_the_ledger_is_signed_verified_reconciled_and_exported(
    market: Marketplace, users: Users, system: System
) -> None:
    began = datetime.now(UTC)
    held = await paid_order(market, users)
    paid_at = datetime.now(UTC)
    released = await delivered_order(market, users)
    auditor = users.auditor

    async def balance(order, **query):
        name = f"escrow:{order['id']}"
        rows = await market.get("/api/ledger/accounts", auditor, params={"account": name, **query})
        return [row["balanceMinor"] for row in rows]

    assert await balance(held) == await balance(held, at=paid_at.isoformat()) == [-held["totalMinor"]]
    assert (await balance(released), await balance(released, at=paid_at.isoformat())) == ([0], [])
    kinds = await market.get("/api/transactions", auditor, params={"orderId": released["id"], "order": "asc"})
    assert [line["type"] for line in kinds] == ["charge", "release"]

    period = {"from": began.isoformat(), "to": (began + timedelta(days=31)).isoformat()}
    response = await market.http.get("/api/transactions/export", params=period, headers=auditor.headers)
    assert (response.status_code, response.headers["content-type"].split(";")[0]) == (200, "text/csv")
    lines = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert {line["transactionId"] for line in lines} >= {line["id"] for line in kinds}
    assert sum(int(line["amountMinor"]) for line in lines) == 0
    refused = await market.http.get("/api/transactions/export", params=period, headers=users.maker.headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "AUTH_FORBIDDEN")

    async def linked():
        code, output = system.command("payments", "verify-ledger")
        length, head = output.splitlines()[-1].split()[:2]
        return (length, head) if code == 0 and int(length) >= len(kinds) else None

    length, head = await market.until("the ledger to be linked", linked, 60, every=2.0)
    assert system.command("payments", "verify-ledger", length, head)[0] == 0
    assert system.command("payments", "verify-ledger", length, "00" * 32)[0] == 1

    code, output = system.command("payments", "reconcile", "--from", began.isoformat(), "--to", period["to"])
    assert code == 0, output
    cases = await market.get("/api/reconciliation-cases", auditor, params={"status": "open"})
    assert [case for case in cases if case["orderId"] in (held["id"], released["id"])] == []
    assert [finding for finding in await findings_of(system.secrets, market.sandbox) if "chain" in finding.rule] == []
