"""A user downloads their data and is erased: no database names them now, and the ledgers are unchanged."""

import asyncio
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from uuid import uuid4

from campus_tools.launcher.system import System
from operations.audit import findings_of
from operations.journey import Marketplace, SignedInUser
from testkit.fixtures import eventually
from tests.end_to_end.steps import a_product, rows_with

from .conftest import Users

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "clients/python/examples/my_records.py"
SECONDS_MAX = 120
# Where a name may remain until its retention ends (docs, privacy).
EXPIRES_BY_ITSELF = re.compile(r"campus_[a-z_]+\.(outbox|dead_letters|processed_webhook_events|idempotency_records): ")


class Student:
    """A user whose name, addresses and texts contain a mark that nothing else in the system contains."""

    def __init__(self) -> None:
        # Of letters alone: a ticket shows no run of digits.
        self.mark = "zainab" + uuid4().hex[:12].translate(str.maketrans("0123456789", "ghijklmnop"))
        self.email = f"{self.mark}@unilag.edu.ng"
        self.phone = f"+234803{uuid4().int % 10**7:07d}"

    @property
    def pattern(self) -> str:
        """The mark or the number, also as bytes that a row shows in hexadecimal digits."""
        texts = (self.mark, self.phone.removeprefix("+234"))
        return "|".join([*texts, *(text.encode().hex() for text in texts)])

    async def join(self, market: Marketplace) -> SignedInUser:
        return await market.sign_up(self.email, f"Zainab {self.mark}", self.phone)


async def send(market: Marketplace, user: SignedInUser) -> None:
    response = await market.http.request(
        "DELETE",
        "/api/profiles/current",
        json={"password": market.secrets["DEMO_PASSWORD"]},
        headers=user.headers,
    )
    # The services may have decided before identity reads the response's status.
    assert response.status_code == 202, response.text


async def refused(market: Marketplace, user: SignedInUser) -> set[tuple[str, str]] | None:
    erasure = await market.get("/api/profiles/current/erasure", user)
    return {(open_["service"], open_["matter"]) for open_ in erasure["openMatters"]} or None


async def download_records(market: Marketplace, student: Student, base_url: str, to: Path) -> dict[str, str]:
    """Return what the client's example writes: the text of each service's file."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "clients/python/src"),
        "CAMPUS_PASSWORD": market.secrets["DEMO_PASSWORD"],
    }
    command = [sys.executable, str(EXAMPLE), "--base-url", base_url, "--to", str(to), student.email]
    done = await asyncio.to_thread(
        subprocess.run, command, env=environment, capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(to) as archive:
        return {name.removesuffix(".json"): archive.read(name).decode() for name in archive.namelist()}


async def test_a_user_exports_their_records_and_is_erased(
    market: Marketplace, users: Users, system: System, tmp_path: Path
) -> None:
    student, other = Student(), Student()
    user, outsider = await student.join(market), await other.join(market)
    product = await a_product(market)
    await market.checkout(outsider, product["id"], deliveryNote=f"for {other.mark}")
    order = await market.checkout(user, product["id"], deliveryNote=f"for {student.mark}")
    await market.post("/api/support-tickets", {"subject": student.mark, "message": f"I am {student.mark}"}, user)
    await market.pay(await market.pay_intent(user, order["id"]))
    await market.order_reaches(user, order["id"], "paid_escrow")
    await send(market, user)
    matters = await market.until("the refusal", lambda: refused(market, user), 60)
    assert matters == {("orders", "open_orders"), ("payments", "escrow_held")}
    await market.dispatch(users.vendor, order["id"])
    await market.verify_delivery(users.vendor, order["id"], await market.delivery_pin(user, order["id"]))
    await market.order_reaches(user, order["id"], "paid")
    review = {"orderId": order["id"], "rating": 5, "text": f"{student.mark} liked it"}
    await market.post(f"/api/vendors/{order['vendorId']}/reviews", review, user)

    recorded = await download_records(market, student, system.base_url, tmp_path / "records.zip")
    assert {name for name, text in recorded.items() if student.mark in text} == {
        "identity",
        "orders",
        "payments",
        "notifications",
    }
    assert not re.search(other.pattern, "".join(recorded.values()))
    sections = {name: set(json.loads(text)) for name, text in recorded.items()}
    assert {"orders", "orderItems", "reviews"} <= sections["orders"]
    assert {"contact", "tickets", "ticketMessages", "notifications", "messagesSent"} <= sections["notifications"]
    # The search works: it finds all of this.
    assert len({row.split(":")[0] for row in await rows_with(system, student.pattern)}) > 8

    await send(market, user)

    async def nothing_left() -> bool:
        rows = [row for row in await rows_with(system, student.pattern) if not EXPIRES_BY_ITSELF.match(row)]
        assert rows == []
        return True

    await eventually(nothing_left, within=60, every=0.5)
    assert (await market.http.get("/api/orders", headers=user.headers)).status_code == 401
    assert (await market.get("/api/profiles/current", outsider))["email"] == other.email
    kept = await market.order(users.vendor, order["id"])
    assert (kept["status"], kept["totalMinor"]) == ("paid", order["totalMinor"])

    async def ledgers_hold() -> bool:
        assert await findings_of(system.secrets, market.sandbox) == []
        return True

    await eventually(ledgers_hold, within=60, every=1)
