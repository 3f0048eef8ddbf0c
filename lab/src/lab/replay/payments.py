"""The escrow ledger as a function of its inputs (contract section 7): one rule for each kind of transaction. Kobo."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID, uuid5

from lab.replay.gateway import GatewayRecord, charge_of
from lab.replay.postings import NAIRA, DerivedPosting, NoInput, Parts, Rules, derived, found, shares_of
from lab.replay.recording import Command, RecordedEvent

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


@dataclass(slots=True)
class _Escrow:
    """The money of a paid order, and the charge that paid it."""

    charge: str
    vendor_id: str
    locked: Parts
    released: Parts = field(default_factory=Parts)

    @property
    def left_minor(self) -> int:
        """The money of the charge that the order still has."""
        return self.locked.total_minor + self.released.total_minor

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

    `debits` are those of its posting.
    """

    charge: str
    order_id: str | None
    debits: Mapping[str, int]
    from_locked: Parts
    from_released: Parts
    loss_minor: int


class PaymentsLedger(Rules):
    """Derives each posting, and holds the state that later ones depend on."""

    name = "payments"

    def __init__(self, gateway: GatewayRecord, commands: Sequence[Command]) -> None:
        self.ids = PaymentsIds()
        self._gateway, self._commands = gateway, commands
        self._used_commands: set[int] = set()
        self._placed: dict[str, Mapping[str, Any]] = {}
        self._escrows: dict[str, _Escrow] = {}
        self._refunds: dict[str, _Refund] = {}
        self._losses: dict[str, _Loss] = {}
        self._dispute_sequences: dict[str, int] = {}
        self.by_event = {
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
            "chargeback": self._chargeback,
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

    def unposted(self) -> list[str]:
        """Return accepted releases by staff that no posting used."""
        return [
            f"{command.path} of {command.body['amountMinor']} kobo was accepted and not posted"
            for number, command in enumerate(self._commands)
            if _is_release(command) and number not in self._used_commands
        ]

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

    def _refund(self, event: RecordedEvent) -> DerivedPosting | None:
        order_id, refund_id, rest = event.data["orderId"], event.data["refundId"], int(event.data["amountMinor"])
        if refund_id in self._refunds:
            return None
        escrow = self._escrow(order_id)
        rest -= self._count_charged_back(escrow.charge, order_id, rest)
        self._refunds[refund_id] = _Refund(escrow.charge, rest, order_id)
        if not rest:
            return None
        from_locked, from_released = _refunded_parts(event, escrow, rest)
        escrow.locked, escrow.released = escrow.locked.minus(from_locked), escrow.released.minus(from_released)
        debits = {f"escrow:{order_id}": from_locked.total_minor, **_receivers(escrow, from_released)}
        return derived(refund_id, "refund", debits, {f"refund_payable:{refund_id}": rest}, str(event))

    def _count_charged_back(self, charge: str, order_id: str, amount_minor: int) -> int:
        """Count what banks took from the order as refunded: no money moves for it."""
        rest = amount_minor
        for _, loss in sorted(self._losses.items()):
            if loss.charge == charge and loss.order_id == order_id:
                from_locked = loss.from_locked.share(min(rest, loss.from_locked.total_minor))
                rest -= from_locked.total_minor
                from_released = loss.from_released.share(min(rest, loss.from_released.total_minor))
                rest -= from_released.total_minor
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
        refund_id = str(uuid5(_NAMESPACE, f"refund:overpayment:{charge}"))
        cash = {"gateway_cash": amount_minor}
        if principal_minor < total_minor:
            held = {f"quarantine:{row['reference']}": amount_minor}
            return derived(f"quarantine:{charge}", "quarantine", cash, held, source)
        unpaid = [order for order in orders if order["orderId"] not in self._escrows]
        if not unpaid:
            self._refunds[refund_id] = _Refund(charge, amount_minor)
            due = {f"refund_payable:{refund_id}": amount_minor}
            return derived(f"overpayment:{charge}", "overpayment", cash, due, source)
        surcharge_minor = _surcharge(amount_minor, principal_minor)
        held = {f"escrow:{order['orderId']}": int(order["totalMinor"]) for order in unpaid}
        surplus_minor = amount_minor - surcharge_minor - sum(held.values())
        for order in unpaid:
            commission_minor, delivery_fee_minor = int(order["commissionMinor"]), int(order["deliveryFeeMinor"])
            net_minor = int(order["totalMinor"]) - commission_minor - delivery_fee_minor
            locked = Parts(net_minor, commission_minor, delivery_fee_minor)
            self._escrows[order["orderId"]] = _Escrow(charge, order["vendorId"], locked)
        if surplus_minor:
            self._refunds[refund_id] = _Refund(charge, surplus_minor)
        credits_ = {
            **held,
            f"refund_payable:{refund_id}": surplus_minor,
            "charge_surcharge": surcharge_minor,
        }
        return derived(f"charge:{charge}", "charge", cash, credits_, source)

    def _fee(self, charge: str) -> DerivedPosting:
        fee_minor = int(found(self._gateway.charges, charge, "paid charge of the gateway")["fees"] or 0)
        source = f"the fee of charge {charge} of the gateway"
        key = f"gateway_fee:{charge}"
        return derived(key, "gateway_fee", {"gateway_fees": fee_minor}, {"gateway_cash": fee_minor}, source)

    def _settle_refund(self, attempt: str) -> DerivedPosting:
        refund_id = found(self.ids.refund_of_attempt, attempt, "refund of the attempt")
        note = f"re-{UUID(attempt).hex}"
        paid_minor = self._gateway.refunded_minor(note)
        if not paid_minor:
            raise NoInput(f"the gateway has no processed refund with the note {note}")
        self._due_refund(refund_id).due_minor -= paid_minor
        due, source = {f"refund_payable:{refund_id}": paid_minor}, f"refund {note} of the gateway"
        return derived(f"refund_settled:{attempt}", "refund_settled", due, {"gateway_cash": paid_minor}, source)

    def _chargeback(self, chargeback: str) -> DerivedPosting:
        identity = found(self.ids.dispute_of_chargeback, chargeback, "dispute of this chargeback")
        dispute_id = identity.partition("/")[0]
        dispute = found(self._gateway.disputes, dispute_id, "dispute of the gateway")
        if not self._gateway.is_lost(dispute_id):
            raise NoInput(f"dispute {dispute_id} is not lost at the gateway")
        if chargeback not in self._losses:
            self._record_loss(dispute_id, charge_of(dispute), int(dispute["refund_amount"]))
        debits = self._losses[chargeback].debits
        source = f"lost dispute {dispute_id} of the gateway"
        cash = {"gateway_cash": sum(debits.values())}
        return derived(f"chargeback:{chargeback}", "chargeback", debits, cash, source)

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

    def _record_loss(self, dispute_id: str, charge: str, amount_minor: int) -> None:
        """Take an amount from unsent refunds, each beside its order, and the rest from the orders of the charge in
        proportion to what each still has of it. What nothing covers, and a refund of no order, is on the first.
        """
        orders: list[str | None] = [order_id for order_id, its in self._escrows.items() if its.charge == charge]
        chargebacks = {order_id: key for key, order_id in self._chargebacks_of(dispute_id)}
        first = found(chargebacks, None, "first chargeback of the dispute")
        debits_of: dict[str | None, dict[str, int]] = {order_id: {} for order_id in orders or [None]}
        first_order = orders[0] if orders else None
        rest = amount_minor
        for refund_id in map(str, self.unit.unsent_refunds):
            refund = self._due_refund(refund_id)
            part = min(rest, refund.due_minor)
            refund.due_minor -= part
            rest -= part
            place = refund.order_id if refund.order_id in debits_of else first_order
            debits_of[place][f"refund_payable:{refund_id}"] = part
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
            self._losses[key] = _Loss(charge, order_id, debits, from_locked, from_released, loss_minor)

    def _offset_refund(self, subject: str) -> DerivedPosting:
        """Return a refund that was to be sent after a lost chargeback, whose uncovered part has returned the money."""
        chargeback, _, refund_id = subject.partition(":")
        loss = found(self._losses, chargeback, "lost chargeback")
        refund = self._due_refund(refund_id)
        if refund.charge != loss.charge:
            raise NoInput(f"refund {refund_id} is of charge {refund.charge}, the chargeback of {loss.charge}")
        amount_minor = min(refund.due_minor, loss.loss_minor)
        refund.due_minor -= amount_minor
        loss.loss_minor -= amount_minor
        debits, credits_ = {f"refund_payable:{refund_id}": amount_minor}, {"chargeback_loss": amount_minor}
        return derived(f"refund_spared:{subject}", "refund_spared", debits, credits_, f"lost chargeback {chargeback}")

    # Commands of staff

    def _release_by_staff(self, release_id: str) -> DerivedPosting:
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


def _surcharge(amount_minor: int, principal_minor: int) -> int:
    bound_minor = min(principal_minor * _SURCHARGE_PERCENT_MAX // 100 + _SURCHARGE_FLAT_MINOR, _SURCHARGE_MINOR_MAX)
    surcharge_minor = amount_minor - principal_minor
    return surcharge_minor if surcharge_minor <= bound_minor else 0


def _is_release(command: Command) -> bool:
    return command.path.startswith("/api/orders/") and command.path.endswith("/release")
