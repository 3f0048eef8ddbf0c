"""Add the account of a payment by bank transfer."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_COLUMNS = (
    ("transfer_bank_name", sa.Text()),
    ("transfer_account_number", sa.Text()),
    ("transfer_account_name", sa.Text()),
    ("transfer_amount_minor", sa.BigInteger()),
    ("transfer_expires_at", sa.DateTime(timezone=True)),
)
_CHECKS = {
    "payment_intents_account_whole": (
        "num_nonnulls(transfer_bank_name, transfer_account_number, transfer_amount_minor, transfer_expires_at) "
        "IN (0, 4)"
    ),
    "payment_intents_transfer_above_zero": "transfer_amount_minor > 0",
}


def upgrade() -> None:
    for name, column_type in _COLUMNS:
        op.add_column("payment_intents", sa.Column(name, column_type, nullable=True))
    for name, condition in _CHECKS.items():
        op.execute(f"ALTER TABLE payment_intents ADD CONSTRAINT {name} CHECK ({condition}) NOT VALID")
    names = ", ".join(name for name, _ in _COLUMNS)
    op.execute(f"GRANT UPDATE ({names}) ON payment_intents TO campus_payments_api, campus_payments_service")


def downgrade() -> None:
    for name in _CHECKS:
        op.drop_constraint(name, "payment_intents")
    for name, _ in _COLUMNS:
        op.drop_column("payment_intents", name)
