"""The wallets' ledger as a function of its inputs (contract section 8): one rule for each kind of transaction. Kobo."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from lab.replay.gateway import GatewayRecord
from lab.replay.postings import DerivedPosting, NoInput, Rules, derived, found
from lab.replay.recording import Command, RecordedEvent
from lab.replay.transfer_fees import TransferFees

_REQUEST: Final = "/api/payouts"


@dataclass(slots=True)
class PayoutsIds:
    """Random ids of payouts and what they belong to, without amounts."""

    payout_of_transfer: Mapping[str, str] = field(default_factory=dict)
    reference_of_transfer: Mapping[str, str] = field(default_factory=dict)
    payout_of_hold: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Chargeback:
    """A chargeback by its newest event, and what the wallet holds for it."""

    order_id: str
    vendor_id: str
    sequence: int = 0
    is_open: bool = False
    vendor_minor: int = 0
    held_minor: int = 0


class PayoutsLedger(Rules):
    """Derives each posting, and holds the balances that later ones depend on."""

    name = "payouts"

    def __init__(self, gateway: GatewayRecord, commands: Sequence[Command]) -> None:
        self.ids = PayoutsIds()
        self._gateway, self._commands = gateway, commands
        self._wallets: dict[str, int] = defaultdict(int)
        self._debts: dict[str, int] = defaultdict(int)
        # By order: the newest share of the vendor that is in escrow, with its event's sequence; and what the wallet
        # received.
        self._shares: dict[str, tuple[int, int]] = {}
        self._credited: dict[str, int] = defaultdict(int)
        self._chargebacks: dict[str, _Chargeback] = {}
        self._posted: set[str] = set()
        # The number of open holds of each payout whose money may have been paid twice.
        self._holds: dict[str, int] = defaultdict(int)
        # Holds that the posting of a command causes, by key.
        self._caused: dict[str, DerivedPosting] = {}
        # The fee of each transfer as the ledger has it.
        self._fees = TransferFees(gateway)
        self.by_event = {
            "payments.escrow_held.v1": self._hold_escrow,
            "payments.escrow_released.v1": self._release,
            "payments.escrow_refunded.v1": self._refund,
            "payments.charge_disputed.v1": self._chargeback,
        }
        self.by_kind = {
            "payout": self._request,
            "payout_processed": self._process,
            "restitution": lambda payout: self._return(payout, "restitution"),
            "reversal": lambda payout: self._return(payout, "reversal"),
            "chargeback_hold": lambda subject: self._pop_caused(f"chargeback_hold:{subject}"),
            "chargeback_hold_returned": lambda subject: self._pop_caused(f"chargeback_hold_returned:{subject}"),
            "transfer_hold": self._hold_transfer,
            "hold_released": self._release_hold,
            "recovery": self._recover,
            "recovery_returned": self._return_recovery,
            "transfer_fee": self._fee,
        }

    def due(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Each input of the gateway and of users, and the keys of which one must be posted."""
        for command in self._commands:
            if command.path == _REQUEST:
                yield f"accepted request of payout {command.data['id']}", (f"payout:{command.data['id']}",)
            elif command.path.startswith(f"{_REQUEST}/") and command.path.endswith("/cancel"):
                payout = command.path.split("/")[3]
                yield f"accepted cancellation of payout {payout}", (f"restitution:{payout}",)
        for decision in self._decisions():
            kind, _, subject = decision.partition(":")
            if kind != "hold_released":
                yield f"approved {decision}", (decision,)
            if kind == "reversal":
                # A later success of the same transfer has a recovery, which is no posting of the first one.
                yield f"the payout before the approved {decision}", (f"payout_processed:{subject}",)
        for transfer, reference in self.ids.reference_of_transfer.items():
            row = self._gateway.transfers.get(reference)
            if row is not None and row["status"] == "success":
                payout = self.ids.payout_of_transfer[transfer]
                yield f"successful transfer {reference}", (f"payout_processed:{payout}", f"recovery:{transfer}")

    def unposted(self) -> list[str]:
        """Return the transfers whose posted fee is not the one that the gateway has kept."""
        return self._fees.unposted(self.ids.reference_of_transfer.values())

    # Events of payments

    def _hold_escrow(self, event: RecordedEvent) -> list[DerivedPosting]:
        data = event.data
        self._record_share(event, data["amountMinor"] - data["commissionMinor"] - data["deliveryFeeMinor"])
        return []

    def _record_share(self, event: RecordedEvent, share_minor: int) -> None:
        order_id = event.data["orderId"]
        if event.sequence > self._shares.get(order_id, (0, 0))[0]:
            self._shares[order_id] = event.sequence, share_minor

    def _release(self, event: RecordedEvent) -> list[DerivedPosting]:
        data = event.data
        self._record_share(event, data["remainingVendorMinor"])
        key, net_minor, postings = f"release:{data['releaseId']}", data["netMinor"], list[DerivedPosting]()
        if key not in self._posted:
            self._posted.add(key)
            self._credited[data["orderId"]] += net_minor
            postings = self._credit("release", key, "escrow_released", data["vendorId"], net_minor, event)
        return postings

    def _refund(self, event: RecordedEvent) -> list[DerivedPosting]:
        data = event.data
        self._record_share(event, data["remainingVendorMinor"])
        key, amount_minor, vendor_id = f"refund:{data['refundId']}", data["fromVendorMinor"], data["vendorId"]
        postings = list[DerivedPosting]()
        if key not in self._posted:
            self._posted.add(key)
            self._credited[data["orderId"]] -= amount_minor
            postings = self._debit("refund", key, "escrow_released", vendor_id, amount_minor, str(event))
        return postings + self._adjust_holds(vendor_id, key, str(event))

    def _chargeback(self, event: RecordedEvent) -> list[DerivedPosting]:
        """Debit a loss whenever it arrives; an older event holds and returns nothing."""
        data = event.data
        if data.get("remainingVendorMinor") is not None:
            self._record_share(event, data["remainingVendorMinor"])
        chargeback_id, order_id, vendor_id = data["chargebackId"], data["orderId"], data["vendorId"]
        chargeback = self._chargebacks.setdefault(chargeback_id, _Chargeback(order_id, vendor_id))
        key = f"chargeback:{chargeback_id}:{event.sequence}"
        lost_minor, won_minor = data.get("fromVendorMinor", 0), data.get("toVendorMinor", 0)
        is_newest, postings = event.sequence > chargeback.sequence, list[DerivedPosting]()
        if is_newest:
            held_minor, chargeback.held_minor = chargeback.held_minor, 0
            chargeback.sequence, chargeback.vendor_minor = event.sequence, data.get("vendorMinor", 0)
            chargeback.is_open = data.get("outcome") is None
            postings += self._credit("hold_released", f"{key}:held", f"held:{vendor_id}", vendor_id, held_minor, event)
        self._credited[order_id] -= lost_minor
        postings += self._debit("chargeback", key, "escrow_released", vendor_id, lost_minor, str(event))
        self._credited[order_id] += won_minor
        postings += self._credit("chargeback_won", key, "escrow_released", vendor_id, won_minor, event)
        if is_newest:
            postings += self._adjust_holds(vendor_id, str(event.sequence), str(event))
        return postings

    def _adjust_holds(self, vendor_id: str, cause: str, source: str) -> list[DerivedPosting]:
        """Hold what escrow does not cover, at most what the wallet has and received for the order; the rest returns."""
        postings = []
        for returns_first in (True, False):
            for key, chargeback, added_minor in self._plan_holds(vendor_id):
                if (added_minor < 0) != returns_first:
                    continue
                chargeback.held_minor += added_minor
                if added_minor > 0:
                    held = f"chargeback_hold:{key}:{cause}"
                    postings += self._debit("hold", held, f"held:{vendor_id}", vendor_id, added_minor, source)
                else:
                    held, origin = f"chargeback_hold_returned:{key}:{cause}", f"held:{vendor_id}"
                    postings += self._post_credit("hold_released", held, origin, vendor_id, -added_minor, source)
        return postings

    def _plan_holds(self, vendor_id: str) -> list[tuple[str, _Chargeback, int]]:
        """Each change of an open chargeback of the vendor, by its key."""
        opened = [(key, one) for key, one in self._chargebacks.items() if one.vendor_id == vendor_id and one.is_open]
        available_minor, changes = self._wallets[vendor_id], list[tuple[str, _Chargeback, int]]()
        for order_id in sorted({one.order_id for _, one in opened}):
            of_order = [(key, one) for key, one in opened if one.order_id == order_id]
            disputed_minor = sum(one.vendor_minor for _, one in of_order) - self._shares.get(order_id, (0, 0))[1]
            rest = max(0, min(self._credited[order_id], disputed_minor))
            for key, one in sorted(of_order, key=lambda pair: pair[0]):
                at_stake_minor = min(rest, one.vendor_minor)
                rest -= at_stake_minor
                added_minor = min(at_stake_minor - one.held_minor, available_minor)
                available_minor -= max(0, added_minor)
                changes.append((key, one, added_minor))
        return [change for change in changes if change[2]]

    # Commands, and reports of the gateway

    def _request(self, payout: str) -> DerivedPosting:
        command = self._requested(payout)
        amount_minor, source = int(command.body["amountMinor"]), f"accepted request of payout {payout}"
        key, target = f"payout:{payout}", f"in_transit:{payout}"
        return self._debit("payout", key, target, command.vendor_id, amount_minor, source)[0]

    def _process(self, payout: str) -> DerivedPosting:
        amount_minor = int(self._requested(payout).body["amountMinor"])
        for transfer, its in self.ids.payout_of_transfer.items():
            reference = self.ids.reference_of_transfer[transfer]
            if its == payout and reference in self._gateway.succeeded:
                paid_minor = int(self._gateway.succeeded[reference]["amount"])
                if paid_minor == amount_minor:
                    source, key = f"successful transfer {reference}", f"payout_processed:{payout}"
                    debits, credits_ = {f"in_transit:{payout}": paid_minor}, {"gateway_cash": paid_minor}
                    return derived(key, "payout_processed", debits, credits_, source)
        raise NoInput(f"the gateway has no successful transfer of {amount_minor} kobo for payout {payout}")

    def _return(self, payout: str, kind: str) -> DerivedPosting:
        command, source = self._requested(payout), f"approved {kind} of payout {payout}"
        is_cancelled = kind == "restitution" and any(
            one.path == f"{_REQUEST}/{payout}/cancel" for one in self._commands
        )
        if not is_cancelled and f"{kind}:{payout}" not in self._decisions():
            raise NoInput(f"no cancellation and no approved {kind} of payout {payout}")
        origin = f"in_transit:{payout}" if kind == "restitution" else "gateway_cash"
        amount_minor = int(command.body["amountMinor"])
        return self._first(self._credit(kind, f"{kind}:{payout}", origin, command.vendor_id, amount_minor, source))

    def _hold_transfer(self, hold: str) -> DerivedPosting:
        """Return the amount of a payout of which the gateway reported one more transfer as paid."""
        payout = found(self.ids.payout_of_hold, hold, "payout of hold")
        references = [
            self.ids.reference_of_transfer[one] for one, its in self.ids.payout_of_transfer.items() if its == payout
        ]
        if not any(reference in self._gateway.succeeded for reference in references):
            raise NoInput(f"the gateway reported no transfer of payout {payout} as paid")
        command, key = self._requested(payout), f"transfer_hold:{hold}"
        self._holds[payout] += 1
        target, amount_minor = f"held:{command.vendor_id}", int(command.body["amountMinor"])
        source = f"contradicted transfer of payout {payout}"
        return self._debit("transfer_hold", key, target, command.vendor_id, amount_minor, source)[0]

    def _release_hold(self, hold: str) -> DerivedPosting:
        payout = found(self.ids.payout_of_hold, hold, "payout of hold")
        if f"hold_released:{payout}" not in self._decisions():
            raise NoInput(f"no approved hold_released of payout {payout}")
        command, source = self._requested(payout), f"approved hold_released of payout {payout}"
        self._holds[payout] -= 1
        origin, amount_minor = f"held:{command.vendor_id}", int(command.body["amountMinor"])
        key = f"hold_released:{hold}"
        return self._first(self._credit("hold_released", key, origin, command.vendor_id, amount_minor, source))

    def _recover(self, subject: str) -> DerivedPosting:
        payout, command, source = self._reconciled(subject, "recovery")
        amount_minor, key = int(command.body["amountMinor"]), f"recovery:{subject}"
        if self._holds[payout]:
            self._holds[payout] -= 1
            origin = {f"held:{command.vendor_id}": amount_minor}
            return derived(key, "recovery", origin, {"gateway_cash": amount_minor}, source)
        return self._debit("recovery", key, "gateway_cash", command.vendor_id, amount_minor, source)[0]

    def _return_recovery(self, subject: str) -> DerivedPosting:
        _, command, source = self._reconciled(subject, "recovery_returned")
        key, amount_minor = f"recovery_returned:{subject}", int(command.body["amountMinor"])
        origin, vendor_id = "gateway_cash", command.vendor_id
        return self._first(self._credit("recovery_returned", key, origin, vendor_id, amount_minor, source))

    def _fee(self, subject: str) -> DerivedPosting:
        transfer = subject.partition(":")[0]
        return self._fees.post(subject, found(self.ids.reference_of_transfer, transfer, "reference of transfer"))

    def _reconciled(self, subject: str, kind: str) -> tuple[str, Command, str]:
        """Return the payout of a recovery, which is a transfer and from the second one a number, and its request."""
        payout = found(self.ids.payout_of_transfer, subject.partition(":")[0], "payout of transfer")
        if f"{kind}:{subject}" not in self._decisions():
            raise NoInput(f"no approved {kind} of {subject}")
        return payout, self._requested(payout), f"approved {kind} of payout {payout}"

    def _requested(self, payout: str) -> Command:
        for command in self._commands:
            if command.path == _REQUEST and command.data["id"] == payout:
                return command
        raise NoInput(f"no accepted request of payout {payout}")

    def _decisions(self) -> list[str]:
        """Return the kind and subject of each approved reconciliation. The subject is a payout; of a recovery and its
        return a transfer, and from the second one its number.
        """
        prepared = {
            command.data["id"]: (command.path.split("/")[3], command.data)
            for command in self._commands
            if command.path.startswith(f"{_REQUEST}/") and command.path.endswith("/reconciliations")
        }
        paths, decisions = {command.path for command in self._commands}, Counter[str]()
        keys = list[str]()
        for reconciliation, (payout, data) in prepared.items():
            if f"/api/reconciliations/{reconciliation}/approve" in paths:
                is_recovery = data["kind"] in ("recovery", "recovery_returned")
                decision = f"{data['kind']}:{data['transferId'] if is_recovery else payout}"
                decisions[decision] += 1
                repeated = is_recovery and decisions[decision] > 1
                keys.append(f"{decision}:{decisions[decision]}" if repeated else decision)
        return keys

    # The wallet

    def _first(self, postings: list[DerivedPosting]) -> DerivedPosting:
        """Return the posting of a command; the holds that it causes are derived with it."""
        self._caused |= {posting.key: posting for posting in postings[1:]}
        return postings[0]

    def _pop_caused(self, key: str) -> DerivedPosting:
        if key not in self._caused:
            raise NoInput("no credit of a command causes this hold")
        return self._caused.pop(key)

    def _credit(
        self, type_: str, key: str, origin: str, vendor_id: str, amount_minor: int, source: object
    ) -> list[DerivedPosting]:
        """To the wallet, and then to the holds of open chargebacks. Nothing for an amount of 0."""
        if not amount_minor:
            return []
        postings = self._post_credit(type_, key, origin, vendor_id, amount_minor, source)
        return postings + self._adjust_holds(vendor_id, key, str(source))

    def _post_credit(
        self, type_: str, key: str, origin: str, vendor_id: str, amount_minor: int, source: object
    ) -> list[DerivedPosting]:
        """To the wallet; debt is repaid first. Nothing for an amount of 0."""
        if not amount_minor:
            return []
        repaid_minor = min(self._debts[vendor_id], amount_minor)
        self._debts[vendor_id] -= repaid_minor
        self._wallets[vendor_id] += amount_minor - repaid_minor
        credits_ = {f"vendor_debt:{vendor_id}": repaid_minor, f"wallet:{vendor_id}": amount_minor - repaid_minor}
        return [derived(key, type_, {origin: amount_minor}, credits_, str(source))]

    def _debit(
        self, type_: str, key: str, target: str, vendor_id: str, amount_minor: int, source: str
    ) -> list[DerivedPosting]:
        """From the wallet; what it lacks becomes debt. Nothing for an amount of 0."""
        if not amount_minor:
            return []
        shortfall_minor = max(0, amount_minor - self._wallets[vendor_id])
        self._debts[vendor_id] += shortfall_minor
        self._wallets[vendor_id] -= amount_minor - shortfall_minor
        debits = {f"wallet:{vendor_id}": amount_minor - shortfall_minor, f"vendor_debt:{vendor_id}": shortfall_minor}
        return [derived(key, type_, debits, {target: amount_minor}, source)]
