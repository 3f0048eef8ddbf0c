"""The postings against the contract's table (section 7)."""

from uuid import UUID

from common.ledger.posting import Posting
from payments.domain import accounts, chargeback_postings, postings
from payments.domain.chargebacks import ChargebackAllocation, UnsentRefund
from payments.domain.escrow import Parts
from payments.domain.settlements import Settlement

ORDER, REFUND, VENDOR, RELEASE, USER, CHARGEBACK, OTHER_REFUND = (UUID(int=number) for number in range(1, 8))

# The normal side of each kind of account, and whether its balance must stay on it. An account that every posting of a
# kind changes is not guarded, because its lock would serialize them.
ACCOUNTS = {
    "gateway_cash": ("debit", False),
    "gateway_fees": ("debit", False),
    "transfer_fees": ("debit", False),
    "bank_account": ("debit", False),
    "chargeback_loss": ("debit", False),
    "referral_expense": ("debit", False),
    "goodwill_expense": ("debit", False),
    "charge_surcharge": ("credit", False),
    "commission": ("credit", False),
    "delivery_fee": ("credit", False),
    "balance_held": ("credit", True),
    "buyer_balance": ("credit", True),
    "buyer_reward": ("credit", False),
    "escrow": ("credit", True),
    "refund_payable": ("credit", True),
    "quarantine": ("credit", True),
    "vendor_payable": ("credit", True),
}


def _lines(posting: Posting) -> dict[str, int]:
    """Return the entries, after a check of their accounts."""
    for account, _ in posting.entries:
        kind, _, _ = account.name.partition(":")
        assert (account.side, account.guarded) == ACCOUNTS[kind], account.name
        assert accounts.side_of(account.name) == account.side
    return {entry.account.name: entry.amount_minor for entry in posting.entries}


def test_charge() -> None:
    posting = postings.charge(
        "ch-1/7", {ORDER: 60, RELEASE: 40}, REFUND, amount_minor=130, surplus_minor=20, surcharge_minor=10
    )
    assert (posting.type, posting.key, posting.currency) == ("charge", "charge:ch-1/7", "NGN")
    assert _lines(posting) == {
        "gateway_cash": 130,
        f"escrow:{ORDER}": -60,
        f"escrow:{RELEASE}": -40,
        f"refund_payable:{REFUND}": -20,
        "charge_surcharge": -10,
    }


def test_overpayment() -> None:
    posting = postings.overpayment("ch-1/8", REFUND, 100)
    assert (posting.type, _lines(posting)) == ("overpayment", {"gateway_cash": 100, f"refund_payable:{REFUND}": -100})


def test_quarantine_in_naira_and_in_another_currency() -> None:
    posting = postings.quarantine("ch-1/9", "ch-1", 100, "NGN")
    assert (posting.type, _lines(posting)) == ("quarantine", {"gateway_cash": 100, "quarantine:ch-1": -100})
    foreign = postings.quarantine("ch-1/9", "ch-1", 100, "GHS")
    assert foreign.currency == "GHS"
    assert _lines(foreign) == {"gateway_cash:GHS": 100, "quarantine:ch-1:GHS": -100}


def test_release() -> None:
    posting = postings.release(RELEASE, ORDER, VENDOR, Parts(90, 6, 4))
    assert (posting.type, posting.key) == ("release", f"release:{RELEASE}")
    assert _lines(posting) == {
        f"escrow:{ORDER}": 100,
        f"vendor_payable:{VENDOR}": -90,
        "commission": -6,
        "delivery_fee": -4,
    }


def test_refund_before_and_after_the_release() -> None:
    before = postings.refund(REFUND, ORDER, VENDOR, from_locked=Parts(90, 6, 4), from_released=Parts())
    assert (before.type, before.key) == ("refund", str(REFUND))
    assert _lines(before) == {f"escrow:{ORDER}": 100, f"refund_payable:{REFUND}": -100}
    after = postings.refund(REFUND, ORDER, VENDOR, from_locked=Parts(), from_released=Parts(90, 6, 4))
    assert _lines(after) == {
        f"vendor_payable:{VENDOR}": 90,
        "commission": 6,
        "delivery_fee": 4,
        f"refund_payable:{REFUND}": -100,
    }


def test_refund_settled_and_referral_reward() -> None:
    settled = postings.refund_settled(REFUND, REFUND, 100, "NGN")
    assert (settled.type, _lines(settled)) == (
        "refund_settled",
        {f"refund_payable:{REFUND}": 100, "gateway_cash": -100},
    )
    reward = postings.referral_reward(USER, 50_000)
    assert (reward.type, reward.key) == ("referral_reward", f"referral_reward:{USER}")
    assert _lines(reward) == {"referral_expense": 50_000, f"buyer_balance:{USER}": -50_000}
    goodwill = postings.goodwill_refund(REFUND, USER, 20_000)
    assert (goodwill.type, goodwill.key) == ("goodwill_refund", f"goodwill_refund:{REFUND}")
    assert _lines(goodwill) == {"goodwill_expense": 20_000, f"buyer_balance:{USER}": -20_000}
    moved = postings.reward_moved(USER, 50_000)
    assert (moved.type, moved.key) == ("reward_moved", f"reward_moved:{USER}")
    assert _lines(moved) == {f"buyer_reward:{USER}": 50_000, f"buyer_balance:{USER}": -50_000}


def test_transfer_fee_and_the_part_that_is_returned() -> None:
    recorded = postings.transfer_fee(f"transfer_fee:{REFUND}", 1_000)
    assert (recorded.type, recorded.key, recorded.currency) == ("transfer_fee", f"transfer_fee:{REFUND}", "NGN")
    assert _lines(recorded) == {"transfer_fees": 1_000, "gateway_cash": -1_000}
    assert _lines(postings.transfer_fee("k", -1_000)) == {"transfer_fees": -1_000, "gateway_cash": 1_000}


def test_quarantine_release_to_an_order_and_to_a_refund() -> None:
    accepted = postings.quarantine_release(
        "ch-1/9", "ch-1", "NGN", totals_minor={ORDER: 100}, refund_id=REFUND, refund_minor=20
    )
    assert (accepted.type, accepted.key) == ("quarantine_release", "quarantine_release:ch-1/9")
    assert _lines(accepted) == {"quarantine:ch-1": 120, f"escrow:{ORDER}": -100, f"refund_payable:{REFUND}": -20}
    returned = postings.quarantine_release("ch-1/9", "ch-1", "GHS", totals_minor={}, refund_id=REFUND, refund_minor=120)
    assert returned.currency == "GHS"
    assert _lines(returned) == {"quarantine:ch-1:GHS": 120, f"refund_payable:{REFUND}": -120}


def test_a_reversed_refund_is_due_again() -> None:
    posting = postings.refund_reversed(REFUND, RELEASE, 100, "GHS")
    assert (posting.type, posting.key, posting.currency) == ("refund_reversed", f"refund_reversed:{RELEASE}", "GHS")
    assert _lines(posting) == {"gateway_cash:GHS": 100, f"refund_payable:{REFUND}": -100}


def test_gateway_fee_in_naira_and_in_another_currency() -> None:
    posting = postings.gateway_fee("ch-1/7", 1_500, "NGN")
    assert (posting.type, posting.key) == ("gateway_fee", "gateway_fee:ch-1/7")
    assert _lines(posting) == {"gateway_fees": 1_500, "gateway_cash": -1_500}
    foreign = postings.gateway_fee("ch-1/7", 1_500, "GHS")
    assert foreign.currency == "GHS"
    assert _lines(foreign) == {"gateway_fees:GHS": 1_500, "gateway_cash:GHS": -1_500}


def test_settlement_in_naira_and_in_another_currency() -> None:
    posting = postings.settlement(Settlement("12", "settled", 9_900, "NGN"))
    assert (posting.type, posting.key) == ("settlement", "settlement:12")
    assert _lines(posting) == {"bank_account": 9_900, "gateway_cash": -9_900}
    foreign = postings.settlement(Settlement("13", "settled", 9_900, "GHS"))
    assert foreign.currency == "GHS"
    assert _lines(foreign) == {"bank_account:GHS": 9_900, "gateway_cash:GHS": -9_900}


# 30 of an unsent refund, 100 of escrow, 50 of released money, and 20 that nothing covers.
ALLOCATION = ChargebackAllocation((UnsentRefund(REFUND, 30),), Parts(90, 6, 4), Parts(45, 3, 2), 20)


def test_a_lost_chargeback_is_debited_to_each_source_and_the_rest_to_the_platform() -> None:
    posting = chargeback_postings.chargeback(CHARGEBACK, 1, ORDER, VENDOR, "NGN", ALLOCATION)
    assert (posting.type, posting.key, posting.currency) == ("chargeback", f"chargeback:{CHARGEBACK}", "NGN")
    assert _lines(posting) == {
        f"refund_payable:{REFUND}": 30,
        f"escrow:{ORDER}": 100,
        f"vendor_payable:{VENDOR}": 45,
        "commission": 3,
        "delivery_fee": 2,
        "chargeback_loss": 20,
        "gateway_cash": -200,
    }


def test_a_won_chargeback_reverses_the_loss_and_recreates_its_refunds() -> None:
    recreated = [UnsentRefund(OTHER_REFUND, 30)]
    posting = chargeback_postings.chargeback_won(CHARGEBACK, 1, ORDER, VENDOR, "NGN", ALLOCATION, recreated)
    assert (posting.type, posting.key) == ("chargeback_won", f"chargeback_won:{CHARGEBACK}")
    assert _lines(posting) == {
        f"refund_payable:{OTHER_REFUND}": -30,
        f"escrow:{ORDER}": -100,
        f"vendor_payable:{VENDOR}": -45,
        "commission": -3,
        "delivery_fee": -2,
        "chargeback_loss": -20,
        "gateway_cash": 200,
    }


def test_a_chargeback_of_a_charge_without_an_order_is_posted_in_its_own_currency() -> None:
    allocation = ChargebackAllocation((UnsentRefund(REFUND, 30),), loss_minor=70)
    lost = chargeback_postings.chargeback(CHARGEBACK, 1, None, None, "GHS", allocation)
    assert lost.currency == "GHS"
    assert _lines(lost) == {f"refund_payable:{REFUND}": 30, "chargeback_loss:GHS": 70, "gateway_cash:GHS": -100}
    won = chargeback_postings.chargeback_won(CHARGEBACK, 1, None, None, "GHS", ChargebackAllocation(loss_minor=70), [])
    assert won.currency == "GHS"
    assert _lines(won) == {"chargeback_loss:GHS": -70, "gateway_cash:GHS": 70}


def test_a_chargeback_that_unsent_refunds_cover_is_no_loss() -> None:
    covered = ChargebackAllocation((UnsentRefund(REFUND, 60), UnsentRefund(OTHER_REFUND, 40)))
    posting = chargeback_postings.chargeback(CHARGEBACK, 1, ORDER, VENDOR, "NGN", covered)
    assert _lines(posting) == {
        f"refund_payable:{REFUND}": 60,
        f"refund_payable:{OTHER_REFUND}": 40,
        "gateway_cash": -100,
    }


def test_each_loss_of_a_dispute_and_its_reversal_have_keys_of_their_own() -> None:
    assert (
        chargeback_postings.chargeback(CHARGEBACK, 2, ORDER, VENDOR, "NGN", ALLOCATION).key
        == f"chargeback:{CHARGEBACK}:2"
    )
    won = chargeback_postings.chargeback_won(
        CHARGEBACK, 2, ORDER, VENDOR, "NGN", ALLOCATION, [UnsentRefund(REFUND, 30)]
    )
    assert won.key == f"chargeback_won:{CHARGEBACK}:2"
    offset = chargeback_postings.refund_offset(CHARGEBACK, 2, REFUND, 70, "NGN")
    assert offset.key == f"refund_spared:{CHARGEBACK}:{REFUND}:2"


def test_an_offset_refund_repays_the_loss_instead_of_the_payer() -> None:
    posting = chargeback_postings.refund_offset(CHARGEBACK, 1, REFUND, 70, "GHS")
    assert (posting.type, posting.key) == ("refund_spared", f"refund_spared:{CHARGEBACK}:{REFUND}")
    assert posting.currency == "GHS"
    assert _lines(posting) == {f"refund_payable:{REFUND}": 70, "chargeback_loss:GHS": -70}


def test_an_event_names_each_currency_but_naira() -> None:
    assert accounts.foreign_currency("NGN") is None
    assert accounts.foreign_currency("GHS") == "GHS"


def test_the_postings_of_a_hold() -> None:
    held = postings.balance_hold(RELEASE, 1, USER, 70)
    assert (held.type, held.key) == ("balance_hold", f"balance_hold:{RELEASE}")
    assert _lines(held) == {f"buyer_balance:{USER}": 70, f"balance_held:{RELEASE}": -70}
    assert postings.balance_hold(RELEASE, 2, USER, 70).key == f"balance_hold:{RELEASE}:2"
    returned = postings.balance_returned(RELEASE, 2, USER, 20)
    assert (returned.type, returned.key) == ("balance_returned", f"balance_returned:{RELEASE}:2")
    assert _lines(returned) == {f"balance_held:{RELEASE}": 20, f"buyer_balance:{USER}": -20}
    spent = postings.balance_spent(RELEASE, {ORDER: 30, VENDOR: 20})
    assert (spent.type, spent.key) == ("balance_spent", f"balance_spent:{RELEASE}")
    assert _lines(spent) == {f"balance_held:{RELEASE}": 50, f"escrow:{ORDER}": -30, f"escrow:{VENDOR}": -20}


def test_a_refund_to_the_balance() -> None:
    posting = postings.balance_refund(REFUND, USER, 40)
    assert (posting.type, posting.key) == ("balance_refund", f"balance_refund:{REFUND}")
    assert _lines(posting) == {f"refund_payable:{REFUND}": 40, f"buyer_balance:{USER}": -40}
