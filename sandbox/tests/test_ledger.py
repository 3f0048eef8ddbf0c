import sqlite3
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.database import Database, InsufficientBalance
from sandbox.faults import Fault, Faults
from sandbox.gateway.charges import find_charge, open_transaction, pay, read_opening
from sandbox.gateway.clearing import run_once
from sandbox.gateway.refunds import accept_refund
from sandbox.gateway.transfers import TransferOrder, accept_transfer, find_transfer, move_transfer, plan_of
from sandbox.settings import read_settings
from sandbox.web import RefusedError
from sandbox.world import build_world


def test_movements_are_append_only() -> None:
    ledger = Database(":memory:", opening_balance_minor=5)
    for statement in ("UPDATE movements SET amount_minor = 6", "DELETE FROM movements"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            ledger.run(statement)
    ledger.close()


def test_each_currency_has_a_balance_of_at_least_zero() -> None:
    ledger = Database(":memory:", opening_balance_minor=5)
    ledger.post("charge", "a", 100, "GHS")
    with pytest.raises(InsufficientBalance):
        ledger.post("transfer", "b", -6, "NGN")
    assert (ledger.balance_minor("NGN"), ledger.balance_minor("GHS")) == (5, 100)
    ledger.close()


def test_the_opening_float_is_recorded_once(tmp_path: Path) -> None:
    for _ in range(3):
        ledger = Database(tmp_path / "sandbox.db", opening_balance_minor=70)
        assert ledger.balance_minor("NGN") == 70
        ledger.close()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("charge"), st.integers(1, 900), st.sampled_from(["NGN", "GHS"])),
        st.tuples(
            st.just("transfer"), st.integers(1, 900), st.sampled_from(["well", "fail", "reverse"]), st.integers(0, 5)
        ),
        st.tuples(st.just("refund"), st.integers(0, 9), st.integers(1, 900)),
        st.tuples(st.just("act"), st.integers(0, 5), st.sampled_from(["success", "failed", "reversed"])),
        st.tuples(st.just("settle")),
    ),
    max_size=40,
)
FAULTS = {"well": None, "fail": Fault(fail="Account number is invalid"), "reverse": Fault(reverse=True)}


class Story:
    """Executes steps on a real ledger, and records the expected effect of each on the balance."""

    def __init__(self, state_dir: Path) -> None:
        address = "http://127.0.0.1:1"
        environment = {
            "PORT": "1", "SMTP_PORT": "1", "STATE_DIR": str(state_dir), "GATEWAY_SECRET_KEY": "k",
            "WEBHOOK_URL": address,
            "MESSAGING_WEBHOOK_URL": address, "MESSAGING_APP_SECRET": "s", "BASE_URL": address,
        }  # fmt: skip
        self.ledger = Database(state_dir / "sandbox.db")
        self.world = build_world(read_settings(environment), self.ledger)
        self.ledger.run("INSERT INTO recipients VALUES (1, 'RCP_1', 'Ada', '0123456785', '058', 'NGN', '2026-01-01')")
        self.charges = 0

    def play(self, step):
        try:
            getattr(self, step[0])(*step[1:])
        except RefusedError:
            # A rejection is a valid response; the invariants below check that it changed nothing.
            assert not self.ledger.connection.in_transaction

    def charge(self, amount_minor, currency):
        body = {"email": "a@b.ng", "amount": amount_minor, "reference": f"c-{self.charges}"}
        self.charges += 1
        pay(self.world, open_transaction(self.ledger, read_opening(body)), None, currency, None)

    def transfer(self, amount_minor, fault, number):
        recipient = self.ledger.one("SELECT * FROM recipients")
        order = TransferOrder(amount_minor, "NGN", recipient, f"po-{number}", "")
        accept_transfer(self.world, order, plan_of(FAULTS[fault]))

    def refund(self, number, amount_minor):
        charge = find_charge(self.ledger, "reference", f"c-{number}")
        if charge is not None:
            accept_refund(self.world, charge, amount_minor, "", "", None)

    def act(self, number, status):
        transfer = find_transfer(self.ledger, "reference", f"po-{number}")
        if transfer is not None:
            move_transfer(self.world, transfer["id"], status, "by hand")

    def settle(self):
        self.ledger.run("UPDATE transfers SET next_move_at = ? WHERE next_move_at IS NOT NULL", time.time() - 1)
        self.ledger.run("UPDATE refunds SET next_move_at = ? WHERE next_move_at IS NOT NULL", time.time() - 1)
        run_once(self.world)


def total(ledger, statement, *values):
    return ledger.one(statement, *values)[0] or 0


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_movements_sum_to_the_balance(steps) -> None:
    with tempfile.TemporaryDirectory() as folder:
        story = Story(Path(folder))
        ledger = story.ledger
        for step in steps:
            story.play(step)
            for currency in ("NGN", "GHS"):
                moved = total(ledger, "SELECT sum(amount_minor) FROM movements WHERE currency = ?", currency)
                assert moved == ledger.balance_minor(currency) >= 0
                came = total(
                    ledger,
                    "SELECT sum(amount_minor) FROM transactions WHERE status = 'success' AND currency = ?",
                    currency,
                )
                back = total(
                    ledger,
                    "SELECT sum(amount_minor) FROM refunds WHERE status = 'processed' AND currency = ?",
                    currency,
                )
                withdrawn = total(
                    ledger,
                    (
                        "SELECT sum(amount_minor) FROM transfers WHERE status IN ('otp', 'pending', 'success') AND "
                        "currency = ?"
                    ),
                    currency,
                )
                assert moved == came - back - withdrawn
        reported = total(ledger, "SELECT count(*) FROM webhooks WHERE event = 'charge.success'")
        assert reported == total(ledger, "SELECT count(*) FROM transactions WHERE status = 'success'")
        ledger.close()


def test_a_counted_rule_keeps_its_remaining_count_after_a_restart(tmp_path: Path) -> None:
    ledger = Database(tmp_path / "sandbox.db")
    faults = Faults(ledger)
    faults.replace({"sms": [Fault(fail="x", times=2)]})
    assert faults.claim_fault("sms") is not None
    again = Faults(ledger)
    assert again.claim_fault("sms") is not None
    assert again.claim_fault("sms") is None
    ledger.close()
