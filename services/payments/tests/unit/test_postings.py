"""The postings against the contract's table (section 7)."""

from uuid import UUID

from common.ledger.posting import Posting
from payments.domain import accounts, postings
from payments.domain.escrow import Parts

ORDER, REFUND, VENDOR, RELEASE, USER = (UUID(int=number) for number in range(1, 6))


def _lines(posting: Posting) -> dict[str, int]:
    return {entry.account.name: entry.amount_minor for entry in posting.entries}


def test_charge() -> None:
    posting = postings.charge(
        "ch-1/7", ORDER, REFUND, amount_minor=130, escrow_minor=100, surplus_minor=20, surcharge_minor=10
    )
    assert (posting.type, posting.key, posting.currency) == ("charge", "charge:ch-1/7", "NGN")
    assert _lines(posting) == {
        "gateway_cash": 130,
        f"escrow:{ORDER}": -100,
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
    assert _lines(reward) == {"referral_expense": 50_000, f"buyer_reward:{USER}": -50_000}


def test_transfer_fee_and_the_part_that_is_returned() -> None:
    recorded = postings.transfer_fee(f"transfer_fee:{REFUND}", 1_000)
    assert (recorded.type, recorded.key, recorded.currency) == ("transfer_fee", f"transfer_fee:{REFUND}", "NGN")
    assert _lines(recorded) == {"transfer_fees": 1_000, "gateway_cash": -1_000}
    assert _lines(postings.transfer_fee("k", -1_000)) == {"transfer_fees": -1_000, "gateway_cash": 1_000}


def test_only_accounts_of_held_money_are_guarded() -> None:
    held = [
        accounts.escrow(ORDER),
        accounts.refund_payable(REFUND),
        accounts.quarantine("r"),
        accounts.vendor_payable(VENDOR),
    ]
    open_ended = [
        accounts.gateway_cash(),
        accounts.COMMISSION,
        accounts.DELIVERY_FEE,
        accounts.CHARGE_SURCHARGE,
        accounts.REFERRAL_EXPENSE,
        accounts.TRANSFER_FEES,
        accounts.buyer_reward(USER),
    ]
    assert all(account.guarded for account in held)
    assert not any(account.guarded for account in open_ended)
    assert all(accounts.side_of(account.name) == account.side for account in [*held, *open_ended])
    assert accounts.side_of("gateway_cash:GHS") == "debit"
