"""Chargebacks at the gateway, and the gateway's fees."""

from alembic import op

from common.migrations.functions import grant_api_v1

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SERVICE = "payments"


def upgrade() -> None:
    for statement in TABLES:
        op.execute(statement)
    grant_api_v1(SERVICE, "chargebacks", "SELECT")
    op.execute(
        "CREATE POLICY chargebacks_visible ON chargebacks FOR SELECT "
        "USING (app_may('ledger:read') OR app_may('escrow:release'))"
    )


def downgrade() -> None:
    for statement in UNDONE:
        op.execute(statement)


TABLES = (
    # Each dispute that the gateway told of, once, and where a lost one took its money from. The fees need no table: the book has them.
    """
    CREATE TABLE chargebacks (
        id uuid PRIMARY KEY,
        identity text NOT NULL,
        charge_id uuid NOT NULL,
        order_id uuid,
        amount_minor bigint NOT NULL,
        currency char(3) NOT NULL,
        status text NOT NULL,
        reason text,
        locked_vendor_minor bigint NOT NULL DEFAULT 0,
        locked_commission_minor bigint NOT NULL DEFAULT 0,
        locked_delivery_fee_minor bigint NOT NULL DEFAULT 0,
        released_vendor_minor bigint NOT NULL DEFAULT 0,
        released_commission_minor bigint NOT NULL DEFAULT 0,
        released_delivery_fee_minor bigint NOT NULL DEFAULT 0,
        loss_minor bigint NOT NULL DEFAULT 0,
        opened_at timestamptz NOT NULL,
        decided_at timestamptz,
        CONSTRAINT chargebacks_identity_once UNIQUE (identity),
        CONSTRAINT chargebacks_charge FOREIGN KEY (charge_id) REFERENCES charges (id),
        CONSTRAINT chargebacks_amount_above_zero CHECK (amount_minor > 0),
        CONSTRAINT chargebacks_status_known CHECK (status IN ('opened', 'won', 'lost')),
        CONSTRAINT chargebacks_decided_when_not_open CHECK ((status = 'opened') = (decided_at IS NULL)),
        CONSTRAINT chargebacks_never_negative CHECK (
            least(locked_vendor_minor, locked_commission_minor, locked_delivery_fee_minor, released_vendor_minor,
                  released_commission_minor, released_delivery_fee_minor, loss_minor) >= 0
        )
    )
    """,
    "CREATE INDEX chargebacks_of_charge ON chargebacks (charge_id)",
    "CREATE INDEX chargebacks_of_order ON chargebacks (order_id)",
    "CREATE INDEX chargebacks_newest ON chargebacks (opened_at, id)",
    # What a lost chargeback gave the payer in the place of a refund, which was not sent for that part.
    """
    CREATE TABLE chargeback_refunds (
        chargeback_id uuid NOT NULL,
        refund_id uuid NOT NULL,
        amount_minor bigint NOT NULL,
        CONSTRAINT chargeback_refunds_pkey PRIMARY KEY (chargeback_id, refund_id),
        CONSTRAINT chargeback_refunds_chargeback FOREIGN KEY (chargeback_id) REFERENCES chargebacks (id),
        CONSTRAINT chargeback_refunds_refund FOREIGN KEY (refund_id) REFERENCES refunds (id),
        CONSTRAINT chargeback_refunds_amount_above_zero CHECK (amount_minor > 0)
    )
    """,
    "CREATE INDEX chargeback_refunds_of_refund ON chargeback_refunds (refund_id)",
    "ALTER TABLE chargeback_refunds ENABLE ROW LEVEL SECURITY",
    # A dispute names the transaction by the gateway's id, or by our reference.
    "CREATE INDEX charges_of_gateway ON charges (gateway_id)",
    # Refunds of a charge are looked for when it is disputed, and those it has are held.
    "CREATE INDEX refunds_of_charge ON refunds (charge_id)",
    "ALTER TABLE escrows ADD COLUMN charged_back_minor bigint NOT NULL DEFAULT 0",
    "ALTER TABLE escrows DROP CONSTRAINT escrows_account_for_all",
    """
    ALTER TABLE escrows
        ADD CONSTRAINT escrows_charged_back_never_negative CHECK (charged_back_minor >= 0),
        ADD CONSTRAINT escrows_account_for_all CHECK (
            locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor
            + released_vendor_minor + released_commission_minor + released_delivery_fee_minor
            + refunded_minor + charged_back_minor = held_minor
        )
    """,
)

UNDONE = (
    "ALTER TABLE escrows DROP CONSTRAINT escrows_account_for_all, DROP CONSTRAINT escrows_charged_back_never_negative",
    # What a bank took was given back to the buyer: the older schema has one word for that.
    "UPDATE escrows SET refunded_minor = refunded_minor + charged_back_minor",
    "ALTER TABLE escrows DROP COLUMN charged_back_minor",
    """
    ALTER TABLE escrows ADD CONSTRAINT escrows_account_for_all CHECK (
        locked_vendor_minor + locked_commission_minor + locked_delivery_fee_minor
        + released_vendor_minor + released_commission_minor + released_delivery_fee_minor
        + refunded_minor = held_minor
    )
    """,
    "DROP INDEX refunds_of_charge",
    "DROP INDEX charges_of_gateway",
    "DROP TABLE chargeback_refunds",
    "DROP TABLE chargebacks",
)
