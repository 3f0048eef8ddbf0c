"""Buyers' balances as a function of their inputs (contract section 7.9): rewards, holds, refunds, withdrawals. Kobo."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from uuid import UUID

from lab.replay.gateway import GatewayRecord
from lab.replay.postings import DerivedPosting, NoInput, derived, found, shares_of
from lab.replay.recording import Command, RecordedEvent

INTENT: Final = "/api/payments/intent"
_WITHDRAWALS: Final = "/api/balance/withdrawals"
# By the last status of the transfer.
_ENDS: Final = {"success": "settled", "failed": "returned", "reversed": "returned"}


class Origins(NamedTuple):
    """An amount of a balance by its origin."""

    rewards_minor: int = 0
    refunds_minor: int = 0

    @property
    def total_minor(self) -> int:
        return sum(self)

    def first(self, amount_minor: int) -> "Origins":
        """Return an amount of it, rewards first."""
        rewards_minor = min(amount_minor, self.rewards_minor)
        return Origins(rewards_minor, amount_minor - rewards_minor)

    def plus(self, other: Sequence[int], sign: int = 1) -> "Origins":
        return Origins(*(mine + sign * theirs for mine, theirs in zip(self, other, strict=True)))


@dataclass(slots=True)
class _Hold:
    """The hold of a payment; `requested_minor` is the part that the buyer requested first."""

    user_id: str
    requested_minor: int
    held: Origins


@dataclass(slots=True)
class _Withdrawal:
    """A withdrawal: its amount, and what its newest round took from the balance and became."""

    user_id: str
    amount_minor: int
    debited: Origins
    state: Literal["open", "settled", "returned"] = "open"


class BuyerBalances:
    """Derives the postings of balances, and holds the state that later ones depend on."""

    def __init__(self, gateway: GatewayRecord, commands: Sequence[Command]) -> None:
        self._gateway, self._commands = gateway, commands
        self._balances: dict[str, Origins] = defaultdict(Origins)
        self._holds: dict[str, _Hold] = {}
        self._withdrawals: dict[str, _Withdrawal] = {}
        self._rewarded: set[str] = set()

    def reward(self, event: RecordedEvent) -> DerivedPosting | None:
        """Credit the reward of a new user, once."""
        user_id, referral = event.data["userId"], event.data["referral"]
        amount_minor = referral["rewardMinor"] if referral["applied"] and event.data.get("emailConfirmed") else 0
        if not amount_minor or user_id in self._rewarded:
            return None
        self._rewarded.add(user_id)
        self._add(user_id, Origins(rewards_minor=amount_minor))
        credits_ = {f"buyer_balance:{user_id}": amount_minor}
        key, kind = f"referral_reward:{user_id}", "referral_reward"
        return derived(key, kind, {"referral_expense": amount_minor}, credits_, str(event))

    # Payments

    def requested_minor(self, intent: str | None) -> int:
        """Return the part of a payment that the balance was to pay."""
        return self._holds[intent].requested_minor if intent in self._holds else 0

    def held_minor(self, intent: str | None) -> int:
        return self._holds[intent].held.total_minor if intent in self._holds else 0

    def available_minor(self, intent: str | None) -> int:
        """Return what the buyer of a payment has in the balance beside its hold."""
        return self._balances[self._holds[intent].user_id].total_minor if intent in self._holds else 0

    def hold(self, subject: str, user_id: str, amount_minor: int, source: str) -> DerivedPosting:
        """Hold a part for a payment, which `subject` names; rewards first."""
        intent = subject.partition(":")[0]
        requested_minor = self.requested_minor(intent) or amount_minor
        self._holds[intent] = _Hold(user_id, requested_minor, self._balances[user_id].first(amount_minor))
        self._add(user_id, self._holds[intent].held, -1)
        debits, credits_ = {f"buyer_balance:{user_id}": amount_minor}, {f"balance_held:{intent}": amount_minor}
        return derived(f"balance_hold:{subject}", "balance_hold", debits, credits_, source)

    def return_hold(self, subject: str, needed_minor: int) -> DerivedPosting:
        """Return what is held, except what the orders of the payment need."""
        intent = subject.partition(":")[0]
        hold = found(self._holds, intent, "hold of payment")
        kept = hold.held.first(min(needed_minor, hold.held.total_minor))
        rest = hold.held.plus(kept, -1)
        hold.held = kept
        self._add(hold.user_id, rest)
        debits = {f"balance_held:{intent}": rest.total_minor}
        credits_ = {f"buyer_balance:{hold.user_id}": rest.total_minor}
        return derived(f"balance_returned:{subject}", "balance_returned", debits, credits_, f"end of payment {intent}")

    def spend(self, intent: str, totals_minor: Mapping[str, int]) -> tuple[DerivedPosting, dict[str, Origins]]:
        """Spend what is held on the orders of a payment; return their parts, in proportion to their totals."""
        hold = found(self._holds, intent, "hold of payment")
        amounts = shares_of(hold.held.total_minor, list(totals_minor.values()))
        rewards = shares_of(hold.held.rewards_minor, amounts)
        shares = {
            order_id: Origins(reward, amount - reward)
            for order_id, amount, reward in zip(totals_minor, amounts, rewards, strict=True)
        }
        debits = {f"balance_held:{intent}": hold.held.total_minor}
        credits_ = {f"escrow:{order_id}": share.total_minor for order_id, share in shares.items()}
        hold.held = Origins()
        source = f"covering payment {intent}"
        return derived(f"balance_spent:{intent}", "balance_spent", debits, credits_, source), shares

    def credit_refund(self, refund_id: str, user_id: str, credited: Origins, source: str) -> DerivedPosting:
        self._add(user_id, credited)
        debits = {f"refund_payable:{refund_id}": credited.total_minor}
        credits_ = {f"buyer_balance:{user_id}": credited.total_minor}
        return derived(f"balance_refund:{refund_id}", "balance_refund", debits, credits_, source)

    # Withdrawals

    def withdraw(self, subject: str, request: Command | None) -> DerivedPosting:
        """Take the requested amount from the refunds; in a later round what a late payment needs, also from rewards."""
        withdrawal, _, again = subject.partition(":")
        loss_minor = 0
        if again:
            one = self._withdrawal(withdrawal, "returned")
            one.state = "open"
            available = self._balances[one.user_id]
            refunds_minor = min(one.amount_minor, available.refunds_minor)
            rewards_minor = min(one.amount_minor - refunds_minor, available.rewards_minor)
            one.debited = Origins(rewards_minor, refunds_minor)
            loss_minor = one.amount_minor - one.debited.total_minor
        elif request is None or request.path != _WITHDRAWALS:
            raise NoInput(f"no request of withdrawal {withdrawal}")
        else:
            amount_minor = int(request.body["amountMinor"])
            one = _Withdrawal(request.user_id, amount_minor, Origins(refunds_minor=amount_minor))
            self._withdrawals[withdrawal] = one
        self._add(one.user_id, one.debited, -1)
        debits = {f"buyer_balance:{one.user_id}": one.debited.total_minor, "withdrawal_loss": loss_minor}
        credits_ = {f"withdrawal_payable:{withdrawal}": one.amount_minor}
        key, source = f"balance_withdrawal:{subject}", f"withdrawal {withdrawal}"
        return derived(key, "balance_withdrawal", debits, credits_, source)

    def settle_withdrawal(self, subject: str) -> DerivedPosting:
        withdrawal = subject.partition(":")[0]
        one, reference = self._withdrawal(withdrawal, "open"), _reference(withdrawal)
        paid_minor = int(found(self._gateway.succeeded, reference, "successful transfer")["amount"])
        one.state = "settled"
        debits, source = {f"withdrawal_payable:{withdrawal}": one.amount_minor}, f"successful transfer {reference}"
        key = f"withdrawal_settled:{subject}"
        return derived(key, "withdrawal_settled", debits, {"gateway_cash": paid_minor}, source)

    def return_withdrawal(self, kind: str, subject: str) -> DerivedPosting:
        """Return what a round took: the transfer failed or was reversed, or two people returned it."""
        withdrawal = subject.partition(":")[0]
        before: Literal["open", "settled"] = "settled" if kind == "withdrawal_reversed" else "open"
        one, reference = self._withdrawal(withdrawal, before), _reference(withdrawal)
        is_approved = kind == "withdrawal_returned" and self._is_returned(withdrawal)
        if reference not in self._gateway.returned and not is_approved:
            raise NoInput(f"the gateway returned no transfer {reference}, and no approval returned it")
        one.state = "returned"
        self._add(one.user_id, one.debited)
        origin = "gateway_cash" if kind == "withdrawal_reversed" else f"withdrawal_payable:{withdrawal}"
        credits_ = {
            f"buyer_balance:{one.user_id}": one.debited.total_minor,
            "withdrawal_loss": one.amount_minor - one.debited.total_minor,
        }
        source = f"return of withdrawal {withdrawal}"
        return derived(f"{kind}:{subject}", kind, {origin: one.amount_minor}, credits_, source)

    def due(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return the accepted requests of withdrawals, and their keys."""
        requests = [command.data["id"] for command in self._commands if command.path == _WITHDRAWALS and command.data]
        return [(f"accepted request of withdrawal {one}", (f"balance_withdrawal:{one}",)) for one in requests]

    def unposted(self) -> list[str]:
        """Return the holds that no payment spent or returned, and the withdrawals whose end at the gateway, or whose
        approved return, has no posting.
        """
        held = {intent: hold.held.total_minor for intent, hold in self._holds.items()}
        unposted = [f"payment {intent} holds {minor} kobo of a balance" for intent, minor in held.items() if minor]
        for withdrawal, one in self._withdrawals.items():
            row = self._gateway.transfers.get(_reference(withdrawal))
            end = "returned" if row is None and self._is_returned(withdrawal) else None
            end = _ENDS.get(row["status"]) if row is not None else end
            if end is not None and one.state != end:
                unposted.append(f"withdrawal {withdrawal} is {one.state} in the ledger, and {end} by its inputs")
        return unposted

    def _is_returned(self, withdrawal: str) -> bool:
        """Return whether two people returned the withdrawal."""
        path = f"/api/withdrawals/{withdrawal}"
        outcomes = [command.body["outcome"] for command in self._commands if command.path == f"{path}/prepare"]
        return outcomes[-1:] == ["return"] and any(command.path == f"{path}/approve" for command in self._commands)

    def _withdrawal(self, withdrawal: str, state: str) -> _Withdrawal:
        """Return a withdrawal in this state. Raises NoInput otherwise."""
        one = found(self._withdrawals, withdrawal, "withdrawal")
        if one.state != state:
            raise NoInput(f"withdrawal {withdrawal} is {one.state}, not {state}")
        return one

    def _add(self, user_id: str, amount: Origins, sign: int = 1) -> None:
        self._balances[user_id] = self._balances[user_id].plus(amount, sign)


def _reference(withdrawal: str) -> str:
    return f"wd-{UUID(withdrawal).hex}"


def refund_to_balance(amount_minor: int, left: Origins, charge_left_minor: int, *, is_all: bool) -> Origins:
    """Return the part of a refund that the balance receives: after the charge refunds, and rewards last.

    `left`: what the balance paid of the order and did not receive yet. `charge_left_minor`: what the charge paid of it
    and is not returned yet.
    """
    to_charge_minor = 0 if is_all else min(amount_minor, max(charge_left_minor, 0))
    rest = amount_minor - to_charge_minor
    money_left_minor = max(charge_left_minor + left.refunds_minor - to_charge_minor, 0)
    refunds_minor = min(rest, money_left_minor)
    return Origins(rest - refunds_minor, refunds_minor)
