"""Evidence of disputes, contacts of the parties of orders, sales, and indexes for lists of return requests.

The SQL is in the file of the same name. Only additions.
"""

from pathlib import Path

from alembic import op

from common.migrations.functions import execute_file

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_INDEXES = (
    "return_requests_newest",
    "return_requests_newest_of_status",
    "return_requests_newest_of_buyer",
    "return_requests_newest_of_vendor",
)


def upgrade() -> None:
    execute_file(Path(__file__).with_suffix(".sql"))


def downgrade() -> None:
    """Fails while there is evidence: its files would stay without a row."""
    for index in _INDEXES:
        op.execute(f"DROP INDEX {index}")
    op.execute("DROP TABLE sale_lines")
    op.execute("DROP TABLE user_contacts")
    op.execute("DROP FUNCTION shares_order_with")
    op.execute("ALTER TABLE dispute_evidence ADD CONSTRAINT dispute_evidence_empty CHECK (false)")
    op.execute("DROP TABLE dispute_evidence")
