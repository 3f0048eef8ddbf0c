"""The balances of buyers and the lines of their statements."""

import sqlalchemy as sa

from common.database.tables import known
from payments.domain.balances import LineKind
from payments.domain.transitions import HoldStatus
from payments.tables.metadata import INSTANT, metadata, required

# Equal to the account `buyer_balance:<user>`, by origin. `held_minor` is on the accounts `balance_held:<intent>` of the
# user. The lock of the row serializes the changes of one balance.
sa.Table(
    "buyer_balances",
    metadata,
    sa.Column("user_id", sa.Uuid, primary_key=True),
    required("rewards_minor", sa.BigInteger),
    required("refunds_minor", sa.BigInteger),
    required("held_minor", sa.BigInteger),
    required("line_count", sa.BigInteger),
    sa.CheckConstraint("least(rewards_minor, refunds_minor, held_minor) >= 0", name="buyer_balances_never_negative"),
)

# The part of a balance that is held for a payment, and after its end what the payment spent, or had returned.
sa.Table(
    "balance_holds",
    metadata,
    sa.Column("intent_id", sa.Uuid, sa.ForeignKey("payment_intents.id", name="balance_holds_intent"), primary_key=True),
    required("user_id", sa.Uuid, sa.ForeignKey("buyer_balances.user_id", name="balance_holds_balance")),
    required("amount_minor", sa.BigInteger),
    required("rewards_minor", sa.BigInteger),
    required("status", sa.Text),
    # A late charge may hold a returned amount again.
    required("hold_count", sa.Integer),
    required("changed_at", INSTANT),
    known("balance_holds", "status", HoldStatus),
    sa.CheckConstraint(
        "amount_minor > 0 AND rewards_minor BETWEEN 0 AND amount_minor", name="balance_holds_rewards_within_amount"
    ),
    sa.Index("balance_holds_of_user", "user_id", postgresql_where=sa.text("status = 'held'")),
)

# Written once, with the posting of the same change. `rewards_minor` is the part of the amount that is of rewards.
sa.Table(
    "balance_lines",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    required("user_id", sa.Uuid, sa.ForeignKey("buyer_balances.user_id", name="balance_lines_balance")),
    required("sequence", sa.BigInteger),
    required("kind", sa.Text),
    sa.Column("order_id", sa.Uuid),
    required("amount_minor", sa.BigInteger),
    required("rewards_minor", sa.BigInteger),
    required("balance_minor", sa.BigInteger),
    required("at", INSTANT),
    sa.UniqueConstraint("user_id", "sequence", name="balance_lines_sequence_once"),
    known("balance_lines", "kind", LineKind),
    sa.CheckConstraint(
        "amount_minor <> 0 AND (amount_minor < 0) = (kind IN ('spent', 'withdrawn'))", name="balance_lines_sign_of_kind"
    ),
    sa.CheckConstraint("balance_minor >= 0", name="balance_lines_balance_never_negative"),
)
