"""The escrow ledger as a function of its inputs (contract section 7): one rule for each kind of transaction. Kobo."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from uuid import UUID, uuid5

from lab.replay.balances import INTENT, BuyerBalances, Origins, refund_to_balance
from lab.replay.gateway import GatewayRecord, charge_of
from lab.replay.postings import NAIRA, DerivedPosting, NoInput, Parts, Rules, derived, found, shares_of
from lab.replay.recording import Command, RecordedEvent, RecordedUnit
from lab.replay.transfer_fees import TransferFees

# Transfers of refunds and of withdrawals.
_TRANSFERS: Final = ("re-", "wd-")
_NAMESPACE: Final = UUID("6f1c7a0e-53d2-5c58-9c4b-2f0d9b1f6a11")
# The payer's part of the gateway's fee: at most so much is a surcharge, more is a surplus (contract section 7.4).
_SURCHARGE_PERCENT_MAX: Final = 2
_SURCHARGE_FLAT_MINOR: Final = 10_000
_SURCHARGE_MINOR_MAX: Final = 200_000


@dataclass(slots=True)
class PaymentsIds:
    """Random ids of payments and what they belong to, without amounts."""

    refund_of_attempt: Mapping[str, str] = field(default_factory=dict)
    dispute_of_chargeback: Mapping[str, str] = field(default_factory=dict)
    order_of_release: Mapping[str, str] = field(default_factory=dict)
    charge_of_quarantined: Mapping[str, str] = field(default_factory=dict)
    # The orders that one payment asked for, by its reference and in their order, separated by commas.
    orders_of_reference: Mapping[str, str] = field(default_factory=dict)
    intent_of_reference: Mapping[str, str] = field(default_factory=dict)
    orders_of_intent: Mapping[str, str] = field(default_factory=dict)
    # The payments by bank transfer, by reference.
    account_of_reference: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Escrow:
    """The money of a paid order, and the charge that paid it. The balance paid `from_balance` and received
    `to_balance`.
    """

    charge: str
    vendor_id: str
    buyer_id: str
    total_minor: int
    locked: Parts
    from_balance: Origins = field(default_factory=Origins)
    to_balance: Origins = field(default_factory=Origins)
    released: Parts = field(default_factory=Parts)

    @property
    def left_minor(self) -> int:
        """The money that the order still has."""
        return self.locked.total_minor + self.released.total_minor

    @property
    def charge_left_minor(self) -> int:
        """Return what the charge paid of the order and is not returned yet."""
        return self.left_minor - self.from_balance.total_minor + self.to_balance.total_minor

    def withdraw(self, amount_minor: int) -> tuple[Parts, Parts]:
        """Remove an amount, first of what is locked; return its parts of locked and of released money."""
        from_locked = self.locked.share(min(amount_minor, self.locked.total_minor))
        from_released = self.released.share(amount_minor - from_locked.total_minor)
        self.locked, self.released = self.locked.minus(from_locked), self.released.minus(from_released)
        return from_locked, from_released


@dataclass(slots=True)
class _Refund:
    """A refund of a charge, and what of it is still due to the payer. A surplus is of no order."""

    charge: str
    due_minor: int
    order_id: str | None = None


@dataclass(slots=True)
class _Loss:
    """A lost chargeback: what it took from an order and no refund counted since, and what nothing covered.

    `debits` are those of its posting. `of_refunds`: what it took from each refund, then or later. `number`: how often
    the chargeback was lost.
    """

    charge: str
    order_id: str | None
    debits: Mapping[str, int]
    from_locked: Parts
    from_released: Parts
    loss_minor: int
    of_refunds: dict[str, int] = field(default_factory=dict)
    number: int = 1
    is_posted: bool = False

    def count(self, refund_id: str, amount_minor: int) -> None:
        if amount_minor:
            self.of_refunds[refund_id] = self.of_refunds.get(refund_id, 0) + amount_minor


class PaymentsLedger(Rules):
    """Derives each posting, and holds the state that later ones depend on."""

    name = "payments"

    def __init__(self, gateway: GatewayRecord, commands: Sequence[Command]) -> None:
        self.ids, self.unit = PaymentsIds(), RecordedUnit()
        self._gateway, self._commands = gateway, commands
        self._used_commands: set[int] = set()
        self._placed: dict[str, Mapping[str, Any]] = {}
        self._escrows: dict[str, _Escrow] = {}
        self._refunds: dict[str, _Refund] = {}
        self._losses: dict[str, _Loss] = {}
        # By won chargeback: the order to which money returned.
        self._won: dict[str, str] = {}
        self._dispute_sequences: dict[str, int] = {}
        self._balances, self._fees = BuyerBalances(gateway, commands), TransferFees(gateway)
        # The parts of orders that a balance paid in the transaction of their charge.
        self._shares: dict[str, Origins] = {}
        self.by_event = {
            "identity.user_provisioned.v1": self._balances.reward,
            "orders.order_placed.v1": self._place,
            "orders.order_disputed.v1": self._dispute,
            "orders.order_delivered.v1": self._deliver,
            "orders.dispute_resolved.v1": self._resolve,
            "orders.refund_requested.v1": self._refund,
        }
        self.by_kind = {
            "charge": self._charge,
            "overpayment": self._charge,
            "quarantine": self._charge,
            "gateway_fee": self._fee,
            "release": self._release_by_staff,
            "quarantine_release": self._return_quarantined,
            "refund_settled": self._settle_refund,
            "refund_spared": self._offset_refund,
            "refund_reversed": self._reverse_refund,
            "chargeback": self._chargeback,
            "chargeback_won": self._chargeback_won,
            "balance_hold": self._hold,
            "balance_returned": self._return_hold,
            "balance_spent": self._spend_hold,
            "balance_withdrawal": lambda subject: self._balances.withdraw(subject, self.unit.request),
            "withdrawal_settled": self._balances.settle_withdrawal,
            "withdrawal_returned": partial(self._balances.return_withdrawal, "withdrawal_returned"),
            "withdrawal_reversed": partial(self._balances.return_withdrawal, "withdrawal_reversed"),
            "transfer_fee": self._transfer_fee,
        }

    def due(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each input of the gateway and of staff, and the keys of which one must be posted."""
        for charge, row in self._gateway.charges.items():
            yield f"charge {charge}", (f"charge:{charge}", f"overpayment:{charge}", f"quarantine:{charge}")
            if row["fees"]:
                yield f"the fee of charge {charge}", (f"gateway_fee:{charge}",)
        for refund in self._gateway.refunds.values():
            if refund["status"] == "processed":
                attempt = str(UUID(hex=str(refund["merchant_note"]).removeprefix("re-")))
                yield f"refund {refund['id']} of the gateway", (f"refund_settled:{attempt}",)
        for dispute in self._gateway.disputes:
            if self._gateway.is_lost(dispute):
                yield from self._due_chargebacks(dispute)
        for quarantined, charge in self.ids.charge_of_quarantined.items():
            if self._is_returned(quarantined):
                yield f"approved return of charge {charge}", (f"quarantine_release:{charge}",)
        yield from self._balances.due()

    def unposted(self) -> list[str]:
        """Return what is open although the run has settled: accepted releases by staff, refunds, parts of balances,
        won chargebacks, withdrawals, and fees of transfers.
        """
        transfers = (name for name in self._gateway.transfers if name.startswith(_TRANSFERS))
        releases = [
            f"{command.path} of {command.body['amountMinor']} kobo was accepted and not posted"
            for number, command in enumerate(self._commands)
            if _is_release(command) and number not in self._used_commands
        ]
        refunds = [
            f"{one.due_minor} kobo of refund {key} are due" for key, one in self._refunds.items() if one.due_minor
        ]
        losses = [
            f"chargeback {key} is lost in the ledger, and won at the gateway"
            for key, loss in self._losses.items()
            if loss.is_posted and any(loss.debits.values()) and self._gateway.is_won(self._dispute_of(key))
        ]
        return [*releases, *refunds, *losses, *self._balances.unposted(), *self._fees.unposted(transfers)]

    def _dispute_of(self, chargeback: str) -> str:
        identity = found(self.ids.dispute_of_chargeback, chargeback, "dispute of this chargeback")
        return identity.partition("/")[0]

    # Events of orders

    def _place(self, event: RecordedEvent) -> None:
        self._placed.setdefault(event.data["orderId"], event.data)

    def _dispute(self, event: RecordedEvent) -> None:
        self._is_new_dispute_event(event)

    def _is_new_dispute_event(self, event: RecordedEvent) -> bool:
        order_id = event.data["orderId"]
        is_new = event.sequence > self._dispute_sequences.get(order_id, 0)
        if is_new:
            self._dispute_sequences[order_id] = event.sequence
        return is_new

    def _deliver(self, event: RecordedEvent) -> DerivedPosting | None:
        order_id = event.data["orderId"]
        release_id = uuid5(_NAMESPACE, f"release:delivery:{order_id}")
        return self._release(order_id, release_id, self._escrow(order_id).locked.total_minor, str(event))

    def _resolve(self, event: RecordedEvent) -> DerivedPosting | None:
        if not self._is_new_dispute_event(event):
            return None
        order_id = event.data["orderId"]
        amount_minor = min(event.data["releaseMinor"], self._escrow(order_id).locked.total_minor)
        release_id = uuid5(_NAMESPACE, f"release:resolution:{order_id}:{event.sequence}")
        return self._release(order_id, release_id, amount_minor, str(event))

    def _release(self, order_id: str, release_id: UUID, amount_minor: int, source: str) -> DerivedPosting | None:
        if not amount_minor:
            return None
        escrow = self._escrow(order_id)
        parts = escrow.locked.share(amount_minor)
        escrow.locked, escrow.released = escrow.locked.minus(parts), escrow.released.plus(parts)
        credits_ = {**_receivers(escrow, parts)}
        return derived(f"release:{release_id}", "release", {f"escrow:{order_id}": parts.total_minor}, credits_, source)

    def _refund(self, event: RecordedEvent) -> list[DerivedPosting]:
        order_id, refund_id, rest = event.data["orderId"], event.data["refundId"], int(event.data["amountMinor"])
        if refund_id in self._refunds:
            return []
        escrow = self._escrow(order_id)
        charge_left_minor = escrow.charge_left_minor
        rest -= self._count_charged_back(escrow.charge, order_id, refund_id, rest)
        self._refunds[refund_id] = _Refund(escrow.charge, rest, order_id)
        if not rest:
            return []
        from_locked, from_released = _refunded_parts(event, escrow, rest)
        escrow.locked, escrow.released = escrow.locked.minus(from_locked), escrow.released.minus(from_released)
        debits = {f"escrow:{order_id}": from_locked.total_minor, **_receivers(escrow, from_released)}
        postings = [derived(refund_id, "refund", debits, {f"refund_payable:{refund_id}": rest}, str(event))]
        is_all = event.data.get("refundTo") == "balance" and order_id not in self.unit.disputed
        left = escrow.from_balance.plus(escrow.to_balance, -1)
        credited = refund_to_balance(rest, left, charge_left_minor, is_all=is_all)
        if credited.total_minor:
            escrow.to_balance = escrow.to_balance.plus(credited)
            self._refunds[refund_id].due_minor -= credited.total_minor
            postings.append(self._balances.credit_refund(refund_id, escrow.buyer_id, credited, str(event)))
        return postings

    def _count_charged_back(self, charge: str, order_id: str, refund_id: str, amount_minor: int) -> int:
        """Count what banks took from the order as refunded: no money moves for it."""
        rest = amount_minor
        for _, loss in sorted(self._losses.items()):
            if loss.charge == charge and loss.order_id == order_id:
                from_locked = loss.from_locked.share(min(rest, loss.from_locked.total_minor))
                rest -= from_locked.total_minor
                from_released = loss.from_released.share(min(rest, loss.from_released.total_minor))
                rest -= from_released.total_minor
                loss.count(refund_id, from_locked.total_minor + from_released.total_minor)
                loss.from_locked, loss.from_released = (
                    loss.from_locked.minus(from_locked),
                    loss.from_released.minus(from_released),
                )
        return amount_minor - rest

    def _escrow(self, order_id: str) -> _Escrow:
        return found(self._escrows, order_id, "escrow of order")

    def _due_refund(self, refund_id: str) -> _Refund:
        return found(self._refunds, refund_id, "refund with the id")

    # Reports of the gateway

    def _charge(self, charge: str) -> DerivedPosting:
        row = found(self._gateway.charges, charge, "paid charge of the gateway")
        amount_minor, source = int(row["amount"]), f"charge {charge} of the gateway"
        if row["currency"] != NAIRA:
            raise NoInput(f"no rule for a charge in {row['currency']}")
        named = self.ids.orders_of_reference.get(row["reference"], str(row["metadata"]["orderId"])).split(",")
        orders = [found(self._placed, order_id, "consumed order_placed") for order_id in named]
        total_minor, settlement = sum(int(order["totalMinor"]) for order in orders), int(row["metadata"]["settlement"])
        principal_minor = settlement if settlement <= amount_minor else amount_minor
        intent = self.ids.intent_of_reference.get(row["reference"])
        refund_id = str(uuid5(_NAMESPACE, f"refund:overpayment:{charge}"))
        cash = {"gateway_cash": amount_minor}
        quarantine = derived(
            f"quarantine:{charge}", "quarantine", cash, {f"quarantine:{row['reference']}": amount_minor}, source
        )
        from_balance, self._shares = self._shares, {}
        if not from_balance and principal_minor + self._expected_minor(intent) < total_minor:
            return quarantine
        unpaid = [order for order in orders if order["orderId"] not in self._escrows]
        if not unpaid:
            self._refunds[refund_id] = _Refund(charge, amount_minor)
            due = {f"refund_payable:{refund_id}": amount_minor}
            return derived(f"overpayment:{charge}", "overpayment", cash, due, source)
        if not from_balance and principal_minor < sum(int(order["totalMinor"]) for order in unpaid):
            # The balance no longer has its part.
            return quarantine
        is_surcharged = row["reference"] not in self.ids.account_of_reference
        surcharge_minor = _surcharge(amount_minor, principal_minor) if is_surcharged else 0
        held = {
            f"escrow:{order['orderId']}": int(order["totalMinor"])
            - from_balance.get(order["orderId"], Origins()).total_minor
            for order in unpaid
        }
        surplus_minor = amount_minor - surcharge_minor - sum(held.values())
        self._hold_escrows(charge, unpaid, from_balance)
        if surplus_minor:
            self._refunds[refund_id] = _Refund(charge, surplus_minor)
        credits_ = {
            **held,
            f"refund_payable:{refund_id}": surplus_minor,
            "charge_surcharge": surcharge_minor,
        }
        return derived(f"charge:{charge}", "charge", cash, credits_, source)

    def _expected_minor(self, intent: str | None) -> int:
        """Return the part of a payment that the balance pays: what is held, or after its return what was held first."""
        return self._balances.held_minor(intent) or self._balances.requested_minor(intent)

    def _hold_escrows(self, charge: str, orders: Sequence[Mapping[str, Any]], shares: Mapping[str, Origins]) -> None:
        for order in orders:
            commission_minor, delivery_fee_minor = int(order["commissionMinor"]), int(order["deliveryFeeMinor"])
            total_minor = int(order["totalMinor"])
            locked = Parts(total_minor - commission_minor - delivery_fee_minor, commission_minor, delivery_fee_minor)
            parties, share = (order["vendorId"], str(order.get("buyerId"))), shares.get(order["orderId"], Origins())
            self._escrows[order["orderId"]] = _Escrow(charge, *parties, total_minor, locked, share)

    # Parts of payments from the balance

    def _unpaid(self, intent: str) -> list[Mapping[str, Any]]:
        named = found(self.ids.orders_of_intent, intent, "payment").split(",")
        return [found(self._placed, order, "consumed order_placed") for order in named if order not in self._escrows]

    def _unpaid_minor(self, intent: str) -> int:
        return sum(int(order["totalMinor"]) for order in self._unpaid(intent))

    def _hold(self, subject: str) -> DerivedPosting:
        """Hold the part that a request named; once it was returned, what a late charge leaves unpaid."""
        intent, _, again = subject.partition(":")
        buyer_id, request = str(self._unpaid(intent)[0]["buyerId"]), self.unit.request
        if again:
            charge = next((key for key in self.unit.keys if key.startswith("charge:")), "charge:none").partition(":")[2]
            row = found(self._gateway.charges, charge, "paid charge of the gateway")
            principal_minor = min(int(row["metadata"]["settlement"]), int(row["amount"]))
            amount_minor = self._unpaid_minor(intent) - principal_minor
            return self._balances.hold(subject, buyer_id, amount_minor, f"charge {charge} of the gateway")
        if request is None or request.path != INTENT or not request.body.get("balanceMinor"):
            raise NoInput(f"no request of a part of the balance for payment {intent}")
        return self._balances.hold(subject, request.user_id, int(request.body["balanceMinor"]), request.path)

    def _return_hold(self, subject: str) -> DerivedPosting:
        intent = subject.partition(":")[0]
        is_spent = f"balance_spent:{intent}" in self.unit.keys
        return self._balances.return_hold(subject, self._unpaid_minor(intent) if is_spent else 0)

    def _spend_hold(self, intent: str) -> DerivedPosting:
        """Pay the orders; what a charge pays of them is posted by that."""
        unpaid = self._unpaid(intent)
        posting, shares = self._balances.spend(intent, {one["orderId"]: int(one["totalMinor"]) for one in unpaid})
        if any(key.startswith("charge:") for key in self.unit.keys):
            self._shares = shares
        else:
            self._hold_escrows(f"payment {intent}", unpaid, shares)
        return posting

    def _transfer_fee(self, subject: str) -> DerivedPosting:
        """Return the fee of a refund to an account, or of a withdrawal."""
        transfer = subject.partition(":")[0]
        kind = "re" if transfer in self.ids.refund_of_attempt else "wd"
        return self._fees.post(subject, f"{kind}-{UUID(transfer).hex}")

    def _fee(self, charge: str) -> DerivedPosting:
        fee_minor = int(found(self._gateway.charges, charge, "paid charge of the gateway")["fees"] or 0)
        source = f"the fee of charge {charge} of the gateway"
        key = f"gateway_fee:{charge}"
        return derived(key, "gateway_fee", {"gateway_fees": fee_minor}, {"gateway_cash": fee_minor}, source)

    def _settle_refund(self, attempt: str) -> DerivedPosting:
        refund_id = found(self.ids.refund_of_attempt, attempt, "refund of the attempt")
        note = f"re-{UUID(attempt).hex}"
        paid_minor = self._gateway.refunded_minor(note) or self._gateway.transferred_minor(note)
        if not paid_minor:
            raise NoInput(f"the gateway has no processed refund with the note {note}")
        self._due_refund(refund_id).due_minor -= paid_minor
        due, source = {f"refund_payable:{refund_id}": paid_minor}, f"refund {note} of the gateway"
        return derived(f"refund_settled:{attempt}", "refund_settled", due, {"gateway_cash": paid_minor}, source)

    def _reverse_refund(self, attempt: str) -> DerivedPosting:
        refund_id, note = found(self.ids.refund_of_attempt, attempt, "refund of the attempt"), f"re-{UUID(attempt).hex}"
        amount_minor = int(found(self._gateway.returned, note, "returned transfer")["amount"])
        self._due_refund(refund_id).due_minor += amount_minor
        cash, due = {"gateway_cash": amount_minor}, {f"refund_payable:{refund_id}": amount_minor}
        return derived(f"refund_reversed:{attempt}", "refund_reversed", cash, due, f"returned transfer {note}")

    def _chargeback(self, subject: str) -> DerivedPosting:
        chargeback, _, number = subject.partition(":")
        dispute_id = self._dispute_of(chargeback)
        if dispute_id not in self._gateway.losses:
            raise NoInput(f"dispute {dispute_id} is not lost at the gateway")
        dispute = self._gateway.losses[dispute_id]
        if chargeback not in self._losses:
            self._record_loss(dispute_id, charge_of(dispute), int(dispute["refund_amount"]), int(number or 1))
        if self._losses[chargeback].is_posted:
            raise NoInput(f"the loss of chargeback {chargeback} is posted")
        self._losses[chargeback].is_posted = True
        debits = self._losses[chargeback].debits
        source = f"lost dispute {dispute_id} of the gateway"
        cash = {"gateway_cash": sum(debits.values())}
        return derived(f"chargeback:{subject}", "chargeback", debits, cash, source)

    def _chargeback_won(self, subject: str) -> DerivedPosting:
        """Return what a loss took to its accounts; what it took from refunds is due to the payer again."""
        chargeback = subject.partition(":")[0]
        loss = found(self._losses, chargeback, "loss of chargeback")
        dispute_id = self._dispute_of(chargeback)
        credits_ = {"chargeback_loss": loss.loss_minor}
        if loss.order_id is not None:
            escrow = self._escrow(loss.order_id)
            escrow.locked, escrow.released = (
                escrow.locked.plus(loss.from_locked),
                escrow.released.plus(loss.from_released),
            )
            credits_[f"escrow:{loss.order_id}"] = loss.from_locked.total_minor
            credits_.update(_receivers(escrow, loss.from_released))
        for refund_id, amount_minor in loss.of_refunds.items():
            again = str(uuid5(_NAMESPACE, f"refund:chargeback_won:{chargeback}:{refund_id}{_suffix(loss.number)}"))
            self._refunds[again] = _Refund(loss.charge, amount_minor, loss.order_id)
            credits_[f"refund_payable:{again}"] = amount_minor
        self._won[chargeback] = str(loss.order_id)
        del self._losses[chargeback]
        cash = {"gateway_cash": sum(credits_.values())}
        source = f"won dispute {dispute_id} of the gateway"
        return derived(f"chargeback_won:{subject}", "chargeback_won", cash, credits_, source)

    def _due_chargebacks(self, dispute_id: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield one posting of the dispute; once it was derived, that of each order with a part of the loss."""
        keys = {chargeback: f"chargeback:{chargeback}" for chargeback, _ in self._chargebacks_of(dispute_id)}
        if not any(chargeback in self._losses for chargeback in keys):
            yield f"lost dispute {dispute_id}", tuple(keys.values()) or ("chargeback:None",)
        for chargeback, key in keys.items():
            if chargeback in self._losses and any(self._losses[chargeback].debits.values()):
                yield f"lost dispute {dispute_id}", (key,)

    def _chargebacks_of(self, dispute_id: str) -> list[tuple[str, str | None]]:
        """Return the chargebacks of a dispute, each with its order: that of the first one is not named."""
        named = [(key, *its.split("/")) for key, its in self.ids.dispute_of_chargeback.items()]
        return [(key, order[0] if order else None) for key, dispute, *order in named if dispute == dispute_id]

    def _record_loss(self, dispute_id: str, charge: str, amount_minor: int, number: int) -> None:
        """Take an amount from unsent refunds, each beside its order, and the rest from the orders of the charge in
        proportion to what each still has of it. What nothing covers, and a refund of no order, is on the first.
        """
        orders: list[str | None] = [order_id for order_id, its in self._escrows.items() if its.charge == charge]
        chargebacks = {order_id: key for key, order_id in self._chargebacks_of(dispute_id)}
        first = found(chargebacks, None, "first chargeback of the dispute")
        debits_of: dict[str | None, dict[str, int]] = {order_id: {} for order_id in orders or [None]}
        first_order = orders[0] if orders else None
        debited: dict[str | None, dict[str, int]] = {}
        rest = amount_minor
        for refund_id in map(str, self.unit.unsent_refunds):
            refund = self._due_refund(refund_id)
            part = min(rest, refund.due_minor)
            refund.due_minor -= part
            rest -= part
            place = refund.order_id if refund.order_id in debits_of else first_order
            debits_of[place][f"refund_payable:{refund_id}"] = part
            if part:
                debited.setdefault(place, {})[refund_id] = part
        left = [self._escrow(str(order_id)).left_minor for order_id in orders]
        shares = dict(zip(orders, shares_of(min(rest, sum(left)), left), strict=True))
        uncovered_minor = rest - sum(shares.values())
        for order_id, debits in debits_of.items():
            key = first if order_id == first_order else found(chargebacks, order_id, "chargeback of order")
            loss_minor = uncovered_minor if order_id == first_order else 0
            from_locked = from_released = Parts()
            if order_id is not None:
                from_locked, from_released = self._escrow(order_id).withdraw(shares[order_id])
                debits[f"escrow:{order_id}"] = from_locked.total_minor
                debits.update(_receivers(self._escrow(order_id), from_released))
            debits["chargeback_loss"] = loss_minor
            of_refunds = debited.get(order_id, {})
            loss = _Loss(charge, order_id, debits, from_locked, from_released, loss_minor, of_refunds, number)
            self._losses[key] = loss

    def _offset_refund(self, subject: str) -> DerivedPosting:
        """Return a refund that was to be sent after a lost chargeback, whose uncovered part has returned the money."""
        chargeback, refund_id, *_ = subject.split(":")
        loss = found(self._losses, chargeback, "lost chargeback")
        refund = self._due_refund(refund_id)
        if refund.charge != loss.charge:
            raise NoInput(f"refund {refund_id} is of charge {refund.charge}, the chargeback of {loss.charge}")
        amount_minor = min(refund.due_minor, loss.loss_minor)
        refund.due_minor -= amount_minor
        loss.loss_minor -= amount_minor
        loss.count(refund_id, amount_minor)
        debits, credits_ = {f"refund_payable:{refund_id}": amount_minor}, {"chargeback_loss": amount_minor}
        return derived(f"refund_spared:{subject}", "refund_spared", debits, credits_, f"lost chargeback {chargeback}")

    # Commands of staff

    def _release_by_staff(self, release_id: str) -> DerivedPosting:
        for key in self.unit.keys:
            # What a won chargeback returned to a finished order is released in the same transaction.
            kind, chargeback, *again = key.split(":")
            won_id = uuid5(_NAMESPACE, f"release:chargeback_won:{chargeback}{''.join(f':{one}' for one in again)}")
            if kind == "chargeback_won" and str(won_id) == release_id:
                order_id = self._won[chargeback]
                posting = self._release(order_id, won_id, self._escrow(order_id).locked.total_minor, key)
                if posting is not None:
                    return posting
        order_id = found(self.ids.order_of_release, release_id, "release")
        for number, command in enumerate(self._commands):
            if command.path == f"/api/orders/{order_id}/release" and number not in self._used_commands:
                self._used_commands.add(number)
                posting = self._release(order_id, UUID(release_id), int(command.body["amountMinor"]), command.path)
                if posting is not None:
                    return posting
        raise NoInput(f"no event and no accepted command releases escrow of order {order_id}")

    def _return_quarantined(self, charge: str) -> DerivedPosting:
        approved = [key for key, its in self.ids.charge_of_quarantined.items() if its == charge]
        if not any(self._is_returned(quarantined) for quarantined in approved):
            raise NoInput(f"no approved return of charge {charge}")
        row = found(self._gateway.charges, charge, "paid charge of the gateway")
        amount_minor, refund_id = int(row["amount"]), str(uuid5(_NAMESPACE, f"refund:quarantine:{charge}"))
        self._refunds[refund_id] = _Refund(charge, amount_minor)
        debits, credits_ = (
            {f"quarantine:{row['reference']}": amount_minor},
            {f"refund_payable:{refund_id}": amount_minor},
        )
        key = f"quarantine_release:{charge}"
        return derived(key, "quarantine_release", debits, credits_, f"approved return of charge {charge}")

    def _is_returned(self, quarantined: str) -> bool:
        path = f"/api/quarantined-charges/{quarantined}"
        outcomes = [command.body["outcome"] for command in self._commands if command.path == f"{path}/prepare"]
        is_approved = any(command.path == f"{path}/approve" for command in self._commands)
        return is_approved and outcomes[-1:] == ["return"]


def _refunded_parts(event: RecordedEvent, escrow: _Escrow, rest: int) -> tuple[Parts, Parts]:
    """Return what a refund takes from escrow, and what from released money: the items' own parts, or all in
    proportion.
    """
    commission, fee = event.data.get("commissionMinor"), event.data.get("deliveryFeeMinor") or 0
    if commission is None:
        from_locked = escrow.locked.share(min(rest, escrow.locked.total_minor))
        return from_locked, escrow.released.share(rest - from_locked.total_minor)
    of_items = Parts(int(event.data["amountMinor"]) - commission - fee, commission, fee)
    parts = of_items.share(rest).fitted(escrow.locked.plus(escrow.released))
    from_locked = Parts(*(min(part, most) for part, most in zip(parts, escrow.locked, strict=True)))
    return from_locked, parts.minus(from_locked)


def _receivers(escrow: _Escrow, parts: Parts) -> dict[str, int]:
    """Return the accounts of released money."""
    return {
        f"vendor_payable:{escrow.vendor_id}": parts.vendor_minor,
        "commission": parts.commission_minor,
        "delivery_fee": parts.delivery_fee_minor,
    }


def _suffix(number: int) -> str:
    return "" if number <= 1 else f":{number}"


def _surcharge(amount_minor: int, principal_minor: int) -> int:
    bound_minor = min(principal_minor * _SURCHARGE_PERCENT_MAX // 100 + _SURCHARGE_FLAT_MINOR, _SURCHARGE_MINOR_MAX)
    surcharge_minor = amount_minor - principal_minor
    return surcharge_minor if surcharge_minor <= bound_minor else 0


def _is_release(command: Command) -> bool:
    return command.path.startswith("/api/orders/") and command.path.endswith("/release")
