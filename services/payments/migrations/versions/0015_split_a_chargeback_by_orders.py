"""Split a chargeback by the orders of its charge, and hold no more than a charge took."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_REFUSE_ABOVE_CHARGE = """
CREATE FUNCTION escrows_refuse_above_charge() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF (SELECT sum(held_minor) FROM escrows WHERE charge_id = NEW.charge_id)
        > (SELECT amount_minor - coalesce(surcharge_minor, 0) FROM charges WHERE id = NEW.charge_id) THEN
        RAISE EXCEPTION 'the escrows of charge % exceed what it took', NEW.charge_id USING ERRCODE = 'check_violation';
    END IF;
    RETURN NULL;
END $$
"""
_ESCROWS_CHECKED = """
CREATE TRIGGER escrows_within_charge AFTER INSERT ON escrows
    FOR EACH ROW EXECUTE FUNCTION escrows_refuse_above_charge()
"""


def upgrade() -> None:
    op.add_column("chargebacks", sa.Column("part_of", sa.Uuid(), nullable=True))
    op.execute(
        "ALTER TABLE chargebacks ADD CONSTRAINT chargebacks_part_of FOREIGN KEY (part_of) REFERENCES chargebacks (id) "
        "NOT VALID"
    )
    op.create_index(
        "chargebacks_of_part",
        "chargebacks",
        ["part_of", "order_id"],
        unique=True,
        postgresql_where=sa.text("part_of IS NOT NULL"),
        if_not_exists=True,
    )
    op.execute("ALTER TABLE chargebacks DROP CONSTRAINT chargebacks_amount_above_zero")
    op.execute(
        "ALTER TABLE chargebacks ADD CONSTRAINT chargebacks_amount_not_negative CHECK (amount_minor >= 0) NOT VALID"
    )
    # The table is small: one row for each dispute.
    for constraint in ("chargebacks_part_of", "chargebacks_amount_not_negative"):
        op.execute(f"ALTER TABLE chargebacks VALIDATE CONSTRAINT {constraint}")
    op.execute(_REFUSE_ABOVE_CHARGE)
    op.execute("REVOKE EXECUTE ON FUNCTION escrows_refuse_above_charge FROM public")
    op.execute(_ESCROWS_CHECKED)


def downgrade() -> None:
    op.execute("DROP TRIGGER escrows_within_charge ON escrows")
    op.execute("DROP FUNCTION escrows_refuse_above_charge")
    op.execute("ALTER TABLE chargebacks DROP CONSTRAINT chargebacks_amount_not_negative")
    op.execute(
        "ALTER TABLE chargebacks ADD CONSTRAINT chargebacks_amount_above_zero CHECK (amount_minor > 0) NOT VALID"
    )
    op.execute("ALTER TABLE chargebacks VALIDATE CONSTRAINT chargebacks_amount_above_zero")
    op.drop_index("chargebacks_of_part", table_name="chargebacks")
    op.execute("ALTER TABLE chargebacks DROP CONSTRAINT chargebacks_part_of")
    op.drop_column("chargebacks", "part_of")
