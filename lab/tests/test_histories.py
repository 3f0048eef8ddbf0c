"""The checker accepts what an order of events explains, and names each planted anomaly in one sentence."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

import httpx
import pytest

from lab.histories.__main__ import main
from lab.histories.checking import check_file
from lab.histories.recording import History, RecordingClient
from lab.histories.verdict import record_final_reads

KEYS = UUID(int=7)
ORDER, OTHER = (str(uuid5(KEYS, name)) for name in ("order", "other"))
KEY, OTHER_KEY = (str(uuid5(KEYS, name)) for name in ("key", "other key"))
READ, TIMELINE = f"/api/orders/{ORDER}", f"/api/orders/{ORDER}/timeline"
DISPATCH, CANCEL, VERIFY = (f"/api/orders/{ORDER}/{command}" for command in ("dispatch", "cancel", "verify-delivery"))
STATEMENT = "/api/wallets/current/statement"
PLACED, HELD = ("placed", "Processing"), ("escrow_held", "paid_escrow")
DISPATCHED, DELIVERED = ("vendor_dispatches", "dispatched"), ("pin_accepted", "delivered")
RELEASED = ("escrow_fully_released", "paid")


@dataclass
class Script:
    """A history in the making. The seconds of its wall clock are its lines."""

    path: Path
    lines: list[dict[str, Any]] = field(default_factory=list)
    index: int = 0

    def write(self, kind: str, **fields: Any) -> None:
        self.lines.append({"type": kind, "process": "tab", "time": float(len(self.lines) + 1), **fields})

    def invoke(self, method: str, path: str, key: str | None = None, user: str = "ada") -> int:
        self.index += 1
        self.write("invoke", index=self.index, method=method, path=path, query=[], key=key, user=user)
        return self.index

    def complete(self, index: int, kind: str, value: Any = None, status: int = 200) -> None:
        self.write(kind, index=index, status=status, value=value)

    def post(self, path: str, seen: str | None = None, *, key: str | None = None, kind: str = "ok") -> None:
        """Send a command that returns this state, or one with another outcome."""
        value = {"id": ORDER, "status": seen} if kind == "ok" else None
        self.complete(self.invoke("POST", path, key), kind, value, {"ok": 200, "fail": 409, "info": 503}[kind])

    def get(self, path: str, value: Any) -> None:
        self.complete(self.invoke("GET", path), "ok", value)

    def reads(self, *states: str) -> None:
        for state in states:
            self.get(READ, {"id": ORDER, "status": state})

    def order(
        self, *timeline: tuple[str, str], status: str = "", key: str = KEY, at: float = 0, order_id: str = ORDER
    ) -> None:
        """Add the final read of an order."""
        status = status or timeline[-1][1]
        released = int(RELEASED in timeline)
        self.write(
            "final", what="order", id=order_id, status=status, key=key, at=at, timeline=timeline, credits=released
        )

    def purchase(self, *, key: str = KEY, at: float = 0) -> None:
        """Add the final read of a purchase, and of an order of it."""
        self.write("final", what="order", id=OTHER, status="Processing", key=None, at=at, timeline=[PLACED], credits=0)
        self.write("final", what="purchase", id=ORDER, key=key, at=at)

    def wallet(self, *lines: str) -> None:
        self.write("final", what="wallet", id="vendor", lines=lines)

    def anomalies(self) -> list[str]:
        self.path.write_text("".join(f"{json.dumps(line)}\n" for line in self.lines))
        return check_file(self.path)


@pytest.fixture
def script(tmp_path: Path) -> Script:
    return Script(tmp_path / "history.jsonl")


def placed(script: Script) -> None:
    script.post("/api/orders/checkout", "Processing", key=KEY)


def whole(script: Script) -> None:
    """Write a purchase whose dispatch was answered at the second attempt, and the end of the run."""
    placed(script)
    script.reads("Processing", "paid_escrow")
    script.post(DISPATCH, key=OTHER_KEY, kind="info")
    script.post(DISPATCH, "dispatched", key=OTHER_KEY)
    script.get(TIMELINE, [{"event": event, "status": status} for event, status in (PLACED, HELD, DISPATCHED)])
    script.post(VERIFY, kind="fail", key="wrong pin")
    script.post(VERIFY, "delivered", key="right pin")
    script.reads("delivered", "paid")
    script.get(STATEMENT, [{"id": "line 2"}, {"id": "line 1"}])
    script.order(PLACED, HELD, DISPATCHED, DELIVERED, RELEASED)
    script.wallet("line 1", "line 2", "line 3")


def test_a_purchase_with_a_lost_response_is_explained(script: Script) -> None:
    whole(script)
    assert script.anomalies() == []


def test_the_key_of_a_purchase_explains_its_orders(script: Script) -> None:
    script.post("/api/orders/checkout", kind="fail", key=OTHER_KEY)
    script.post("/api/purchases", "unpaid", key=KEY)
    script.purchase(at=3)
    assert script.anomalies() == []


def test_a_purchase_under_a_key_without_a_request_is_a_double_effect(script: Script) -> None:
    script.post("/api/purchases", "unpaid", key=KEY)
    script.purchase(key=OTHER_KEY, at=3)
    [anomaly] = script.anomalies()
    assert anomaly.startswith(f"double effect: purchase {ORDER} exists under key {OTHER_KEY}")


def test_concurrent_reads_may_see_either_state(script: Script) -> None:
    placed(script)
    script.reads("paid_escrow")
    writing, reading = script.invoke("POST", DISPATCH, OTHER_KEY), script.invoke("GET", READ)
    script.reads("dispatched")
    script.complete(reading, "ok", {"id": ORDER, "status": "paid_escrow"})
    script.complete(writing, "ok", {"id": ORDER, "status": "dispatched"})
    script.order(PLACED, HELD, DISPATCHED)
    assert script.anomalies() == []


@pytest.mark.parametrize("timeline", [(PLACED, HELD), (PLACED, HELD, DISPATCHED)])
def test_an_unknown_outcome_is_there_or_not(script: Script, timeline: tuple[tuple[str, str], ...]) -> None:
    placed(script)
    script.post(DISPATCH, kind="info", key=OTHER_KEY)
    script.reads("paid_escrow")
    script.order(*timeline)
    assert script.anomalies() == []


def test_calls_after_the_final_reads_are_not_checked(script: Script) -> None:
    whole(script)
    script.complete(script.invoke("POST", "/api/orders/checkout", "later"), "ok", {"id": OTHER, "status": "Processing"})
    assert script.anomalies() == []


def lost_update(script: Script) -> None:
    placed(script)
    script.reads("paid_escrow")
    script.post(DISPATCH, "dispatched", key=OTHER_KEY)
    script.order(PLACED, HELD, DISPATCHED, status="paid_escrow")


def lost_update_of_two_commands(script: Script) -> None:
    placed(script)
    script.reads("paid_escrow")
    script.post(CANCEL, "refund_pending", key=OTHER_KEY)
    script.post(DISPATCH, "dispatched", key="third")


def transition_that_no_rule_has(script: Script) -> None:
    placed(script)
    script.order(PLACED, HELD, DELIVERED, DISPATCHED)


def stale_read(script: Script) -> None:
    placed(script)
    script.reads("paid_escrow")
    script.post(DISPATCH, "dispatched", key=OTHER_KEY)
    script.reads("paid_escrow", "dispatched")
    script.order(PLACED, HELD, DISPATCHED)


def stale_read_of_a_new_order(script: Script) -> None:
    placed(script)
    script.complete(script.invoke("GET", READ), "fail", status=404)
    script.order(PLACED)


def stale_statement(script: Script) -> None:
    script.get(STATEMENT, [{"id": "line 2"}, {"id": "line 1"}])
    script.get(STATEMENT, [{"id": "line 1"}])
    script.wallet("line 1", "line 2")


def two_orders_of_a_key(script: Script) -> None:
    placed(script)
    script.order(PLACED)
    script.order(PLACED, order_id=OTHER)


def another_response_to_a_key(script: Script) -> None:
    placed(script)
    script.complete(script.invoke("POST", "/api/orders/checkout", KEY), "ok", {"id": OTHER, "status": "Processing"})


def order_without_a_request(script: Script) -> None:
    placed(script)
    script.order(PLACED)
    script.order(PLACED, order_id=OTHER, key=OTHER_KEY, at=9)


def second_delivery(script: Script) -> None:
    placed(script)
    script.post(DISPATCH, "dispatched", key=OTHER_KEY)
    script.order(PLACED, HELD, DISPATCHED, ("vendor_cancels", "refund_pending"), ("staff_cancels", "refund_pending"))


def second_transfer(script: Script) -> None:
    script.write("final", what="payout", id=OTHER, status="processed", key=KEY, amountMinor=500)
    script.write("final", what="transfers", amounts=[500, 500])


def lost_order(script: Script) -> None:
    placed(script)
    script.order(PLACED, order_id=OTHER, key=OTHER_KEY)


def lost_dispatch(script: Script) -> None:
    placed(script)
    script.reads("paid_escrow")
    script.post(DISPATCH, "dispatched", key=OTHER_KEY)
    script.order(PLACED, HELD)


def lost_credit(script: Script) -> None:
    script.write(
        "final", what="order", id=ORDER, status="paid", key=KEY, at=0, timeline=[PLACED, ("x", "paid")], credits=0
    )


def lost_transfer(script: Script) -> None:
    script.write("final", what="payout", id=OTHER, status="processed", key=KEY, amountMinor=500)
    script.write("final", what="transfers", amounts=[])


def rejected_checkout(script: Script) -> None:
    script.post("/api/orders/checkout", key=KEY, kind="fail")
    script.order(PLACED)


def rejected_dispatch(script: Script) -> None:
    placed(script)
    script.post(DISPATCH, key=OTHER_KEY, kind="fail")
    script.order(PLACED, HELD, DISPATCHED)


def changed_timeline(script: Script) -> None:
    placed(script)
    script.get(TIMELINE, [{"event": event, "status": status} for event, status in (PLACED, HELD)])
    script.order(PLACED, ("escrow_held_without_stock", "refund_pending"))


def inserted_entry(script: Script) -> None:
    placed(script)
    script.get(TIMELINE, [{"event": event, "status": status} for event, status in (PLACED, HELD)])
    rejected = ("pin_rejected", None)
    script.get(TIMELINE, [{"event": event, "status": status} for event, status in (PLACED, rejected, HELD)])


def bug(script: Script) -> None:
    script.complete(script.invoke("POST", DISPATCH, KEY), "info", status=500)


def changed_statement(script: Script) -> None:
    script.get(STATEMENT, [{"id": "line 2"}, {"id": "line 1"}])
    script.wallet("line 2", "line 1")


@pytest.mark.parametrize(
    ("kind", "plant"),
    [
        ("lost update", lost_update),
        ("lost update", lost_update_of_two_commands),
        ("lost update", transition_that_no_rule_has),
        ("stale read", stale_read),
        ("stale read", stale_read_of_a_new_order),
        ("stale read", stale_statement),
        ("double effect", two_orders_of_a_key),
        ("double effect", another_response_to_a_key),
        ("double effect", order_without_a_request),
        ("double effect", second_transfer),
        ("lost acknowledged write", lost_order),
        ("lost acknowledged write", lost_dispatch),
        ("lost acknowledged write", lost_credit),
        ("lost acknowledged write", lost_transfer),
        ("failed operation took effect", rejected_checkout),
        ("failed operation took effect", rejected_dispatch),
        ("not append-only", changed_timeline),
        ("not append-only", inserted_entry),
        ("not append-only", changed_statement),
        ("server error", bug),
    ],
)
def test_a_planted_anomaly_is_named(script: Script, kind: str, plant: Callable[[Script], None]) -> None:
    plant(script)
    found = script.anomalies()
    assert found, plant
    assert {text.split(":")[0] for text in found} == {kind}


async def test_a_database_that_lost_its_only_order_is_read_to_its_end(script: Script) -> None:
    script.post("/api/orders/checkout", "Processing", key=KEY)

    async def nothing(service: str, statement: str) -> list[dict[str, Any]]:
        return []

    # The client's lines, then the final reads in the same file.
    assert script.anomalies() == []
    await record_final_reads(History(script.path, "final"), nothing, None)
    assert [text.split(":")[0] for text in check_file(script.path)] == ["lost acknowledged write"]


def test_writes_after_the_instant_of_a_restore_may_be_missing(script: Script) -> None:
    placed(script)
    script.reads("paid_escrow")
    instant = float(len(script.lines))
    script.post(DISPATCH, "dispatched", key=OTHER_KEY)
    script.reads("dispatched")
    script.write("restore", instant=instant)
    script.reads("paid_escrow")
    script.order(PLACED, HELD)
    assert script.anomalies() == []


@pytest.mark.parametrize(("timeline", "anomalies"), [((PLACED, HELD, DISPATCHED), 0), ((PLACED, HELD), 1)])
def test_a_failover_keeps_acknowledged_writes(
    script: Script, timeline: tuple[tuple[str, str], ...], anomalies: int
) -> None:
    placed(script)
    instant = float(len(script.lines))
    script.reads("paid_escrow")
    script.post(DISPATCH, "dispatched", key=OTHER_KEY)
    script.reads("disputed")
    script.write("restore", instant=instant, keepsWrites=True)
    script.order(*timeline)
    assert len(script.anomalies()) == anomalies


def test_writes_before_the_instant_of_a_restore_may_not_be_missing(script: Script) -> None:
    placed(script)
    script.reads("paid_escrow")
    script.post(DISPATCH, "dispatched", key=OTHER_KEY)
    script.write("restore", instant=float(len(script.lines)))
    script.order(PLACED, HELD)
    assert [text.split(":")[0] for text in script.anomalies()] == ["lost acknowledged write"]


async def test_a_client_records_outcomes_without_bodies_and_tokens(tmp_path: Path) -> None:
    responses = {
        "/api/orders/checkout": httpx.Response(
            201, json={"data": {"id": ORDER, "status": "Processing", "pin": "1234"}}
        ),
        "/api/payouts": httpx.Response(503),
        "/api/wallets/current": httpx.Response(403),
        "/api/auth/login": httpx.Response(200, json={"data": {"accessToken": "secret"}}),
    }

    def respond(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/orders":
            raise httpx.ReadTimeout("no response")
        return responses[request.url.path]

    history = History(tmp_path / "history.jsonl", "tab")
    headers = {"Authorization": "Bearer e30.eyJzdWIiOiJhZGEifQ.c2ln"}
    async with RecordingClient(
        history, base_url="http://api", headers=headers, transport=httpx.MockTransport(respond)
    ) as client:
        for path in responses:
            await client.post(path, json={"password": "secret"}, headers={"Idempotency-Key": KEY})
        with pytest.raises(httpx.ReadTimeout):
            await client.get("/api/orders")
    text = history.path.read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert [line["type"] for line in lines[1::2]] == ["ok", "info", "fail", "info"]
    assert lines[1]["value"] == {"id": ORDER, "status": "Processing"}
    assert {line["user"] for line in lines[::2]} == {"ada"}
    assert not any(secret in text for secret in ("secret", "1234", "c2ln"))


@pytest.mark.parametrize(("plant", "status"), [(whole, 0), (lost_order, 1)])
def test_a_stored_history_is_checked_again(
    script: Script,
    plant: Callable[[Script], None],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plant(script)
    script.anomalies()
    monkeypatch.setattr("sys.argv", ["lab.histories", str(script.path)])
    assert main() == status
    assert ("lost acknowledged write" in capsys.readouterr().out) == bool(status)
