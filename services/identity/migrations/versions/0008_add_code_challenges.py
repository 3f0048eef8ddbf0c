"""Add the code challenge of a program that signs in by an identity provider (decision 171)."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_TABLES = ("oidc_flows", "oidc_codes")


def upgrade() -> None:
    for table in _TABLES:
        op.add_column(table, sa.Column("code_challenge", sa.Text(), nullable=True))


def downgrade() -> None:
    for table in _TABLES:
        op.drop_column(table, "code_challenge")
