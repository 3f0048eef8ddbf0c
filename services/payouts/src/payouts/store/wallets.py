"""SQL for writes to wallets and their statements. No decision is made here."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.outbox import Writes
from common.database.unit_of_work import UnitOfWork
from common.ledger import posting as ledger
from common.ledger.posting import Posting
from common.primitives.ids import new_id
from contracts.event import Event
from payouts.domain.wallet import Movement, WalletLine, WalletSnapshot

# `DO UPDATE` locks the row or creates a missing one in one round trip; `WHERE false` writes no new version of it.
LOCK_WALLET: Final = """
INSERT INTO wallets (vendor_id) VALUES ($1) ON CONFLICT (vendor_id) DO UPDATE SET vendor_id = excluded.vendor_id
WHERE false
"""
# The columns of a `WalletSnapshot`, in its order, of the vendor $1.
SNAPSHOT: Final = """
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'wallet:' || $1::uuid), 0) AS available_minor,
    coalesce((SELECT balance_minor FROM ledger_balances WHERE account = 'vendor_debt:' || $1::uuid), 0) AS debt_minor,
    (SELECT coalesce(sum(remaining_vendor_minor), 0)::bigint FROM order_shares
     WHERE vendor_id = $1 AND remaining_vendor_minor > 0) AS locked_minor,
    d.version_id, coalesce(d.verified, false) AS verified,
    coalesce((SELECT suspended FROM vendors WHERE id = $1), false) AS suspended,
    d.quarantine_reason IS NOT NULL AS quarantined,
    EXISTS (SELECT FROM transfer_holds WHERE vendor_id = $1 AND status = 'held') AS transfer_contradicted
"""
BANK_DETAILS: Final = "FROM (VALUES (1)) AS one LEFT JOIN vendor_bank_details AS d ON d.vendor_id = $1"
_READ_SNAPSHOT: Final = f"SELECT {SNAPSHOT} {BANK_DETAILS}"
_READ_FOR_RELEASE: Final = f"""
SELECT (SELECT net_minor FROM wallet_lines WHERE source_key = $2 AND kind = 'release'),
    EXISTS (SELECT FROM chargebacks WHERE vendor_id = $1 AND status = 'opened'), {SNAPSHOT} {BANK_DETAILS}
"""
# The number of a payout is random; one that is not used leaves no gap.
_READ_FOR_PAYOUT: Final = f"""
SELECT known.id, known.amount, new_payout_number(), {SNAPSHOT} {BANK_DETAILS}
LEFT JOIN payout_requests AS known ON known.requested_by = $2 AND known.idempotency_key = $3
"""
_SUM_RELEASED: Final = """
SELECT coalesce(sum(net_minor), 0)::bigint, coalesce(sum(commission_minor), 0)::bigint,
       coalesce(sum(delivery_fee_minor), 0)::bigint
FROM wallet_lines WHERE vendor_id = $1 AND order_id = $2 AND kind = 'release'
"""
_FIND_LINE_NET: Final = "SELECT net_minor FROM wallet_lines WHERE source_key = $1 AND kind = $2"
# A clock may be behind another machine's. No line is earlier than its predecessor, so that a month is one range of the
# statement. The locked wallet permits no other line in the meantime.
_APPENDED_LINES: Final = """
INSERT INTO wallet_lines (vendor_id, source_key, at, id, kind, order_id, payout_id, gross_minor, commission_minor,
                          delivery_fee_minor, net_minor, balance_minor, estimated)
SELECT $1, $2, greatest($3, (SELECT at FROM wallet_lines WHERE vendor_id = $1 ORDER BY position DESC LIMIT 1)),
       id, kind, order_id, payout_id, gross_minor, commission_minor, delivery_fee_minor, net_minor, balance_minor,
       estimated
FROM unnest($4::uuid[], $5::text[], $6::uuid[], $7::uuid[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
            $12::bigint[], $13::boolean[]) WITH ORDINALITY
    AS line (id, kind, order_id, payout_id, gross_minor, commission_minor, delivery_fee_minor, net_minor, balance_minor,
             estimated, place)
ORDER BY place
"""
_APPEND_LINES: Final = Writes(f"appended_lines AS ({_APPENDED_LINES})", "true AS are_appended")


async def lock_wallet(uow: UnitOfWork, vendor_id: UUID) -> WalletSnapshot:
    """Locks the vendor's wallet until the end of the unit of work, and reads it."""
    await lock_wallet_unread(uow, vendor_id)
    row = await uow.fetch_row(_READ_SNAPSHOT, vendor_id)
    if row is None:
        raise AssertionError("the statement always gives a row")
    return WalletSnapshot(*row)


class ReleaseFacts(NamedTuple):
    """The wallet before a release, the net amount of the line that has its key (kobo), and whether a chargeback of the
    vendor is undecided.
    """

    wallet: WalletSnapshot
    net_before_minor: int | None
    has_open_chargeback: bool


async def read_for_release(uow: UnitOfWork, vendor_id: UUID, source_key: str) -> ReleaseFacts:
    """Read the wallet for a release. The unit of work holds the lock of the wallet since an earlier statement."""
    row = await uow.fetch_row(_READ_FOR_RELEASE, vendor_id, source_key)
    if row is None:
        raise AssertionError("the statement always gives a row")
    net_before_minor, has_open_chargeback, *snapshot = row
    return ReleaseFacts(WalletSnapshot(*snapshot), net_before_minor, has_open_chargeback)


class RequestedPayout(NamedTuple):
    """The payout that a request with an idempotency key made."""

    id: UUID
    amount_minor: int


class PayoutFacts(NamedTuple):
    """The wallet before a payout, the number of the next payout, and the payout of an earlier request with the key."""

    wallet: WalletSnapshot
    number: str
    requested: RequestedPayout | None


async def read_for_payout(uow: UnitOfWork, vendor_id: UUID, by: UUID, key: UUID | None) -> PayoutFacts:
    """Read the wallet for a payout. The unit of work holds the lock of the wallet since an earlier statement."""
    row = await uow.fetch_row(_READ_FOR_PAYOUT, vendor_id, by, key)
    if row is None:
        raise AssertionError("the statement always gives a row")
    payout_id, amount_minor, number, *snapshot = row
    requested = None if payout_id is None else RequestedPayout(payout_id, amount_minor)
    return PayoutFacts(WalletSnapshot(*snapshot), number, requested)


def lock_statement(vendor_id: UUID) -> str:
    """Return the statement that locks the vendor's wallet, for BEGIN's round trip."""
    return LOCK_WALLET.replace("$1", f"'{vendor_id}'")


async def lock_wallet_unread(uow: UnitOfWork, vendor_id: UUID) -> None:
    """Locks the vendor's wallet until the end of the unit of work."""
    await uow.execute(LOCK_WALLET, vendor_id)


async def find_line_net(uow: UnitOfWork, source_key: str, kind: str) -> int | None:
    """Return the net amount of an earlier delivery of the same event, in kobo; None for the first."""
    net_minor: int | None = await uow.fetch_value(_FIND_LINE_NET, source_key, kind)
    return net_minor


async def sum_released(uow: UnitOfWork, vendor_id: UUID, order_id: UUID) -> Movement:
    """Return the sum of the order's releases, by owner."""
    row = await uow.fetch_row(_SUM_RELEASED, vendor_id, order_id)
    if row is None:
        raise AssertionError("an aggregate always gives a row")
    return Movement(*row)


async def append_lines(
    uow: UnitOfWork,
    vendor_id: UUID,
    source_key: str,
    lines: Iterable[tuple[WalletLine, int]],
    at: datetime,
    posting: Posting | None = None,
    event: Event | None = None,
) -> None:
    """Write statement lines with the balance after each (kobo), their posting and event in the same statement. The
    wallet must be locked. Raises as `ledger.post`.
    """
    rows = [
        (
            new_id(),
            line.kind,
            line.order_id,
            line.payout_id,
            line.gross_minor,
            line.commission_minor,
            line.delivery_fee_minor,
            line.net_minor,
            balance_minor,
            line.is_estimated,
        )
        for line, balance_minor in lines
    ]
    values: Sequence[object] = (vendor_id, source_key, at, *map(list, zip(*rows, strict=True)))
    writes = _APPEND_LINES
    if posting is not None:
        writes, values = ledger.with_posting(writes, values, posting)
    with ledger.posting_errors():
        await uow.fetch_row_and_publish(writes, *values, event=event)
