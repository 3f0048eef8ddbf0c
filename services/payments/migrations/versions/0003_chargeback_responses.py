"""The date of a dispute, responses to it, and the kinds of case for settlements and fees.

The SQL is in the file of the same name.
"""

from pathlib import Path

from common.migrations.functions import execute_file

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    execute_file(Path(__file__).with_suffix(".sql"))


def downgrade() -> None:
    raise NotImplementedError("responses that were sent to the gateway are not forgotten")
