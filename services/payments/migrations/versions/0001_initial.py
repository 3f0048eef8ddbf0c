"""Payment intents, webhooks, charges, escrow, refunds, chargebacks and reconciliation.

The SQL is in the file of the same name.
"""

from pathlib import Path

from common.migrations.functions import create_ledger_v1, create_messaging_v1, execute_file, grant_roles_v1

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    grant_roles_v1("payments")
    create_messaging_v1("payments")
    create_ledger_v1("payments")
    execute_file(Path(__file__).with_suffix(".sql"))


def downgrade() -> None:
    raise NotImplementedError("a first migration is undone by dropping the database")
