"""The gateway's own list of banks."""

import sqlalchemy as sa

from payouts.tables.metadata import INSTANT, metadata

# Replaced once a day by the worker. Empty: the shipped list applies.
sa.Table(
    "gateway_banks",
    metadata,
    sa.Column("gateway", sa.Text, primary_key=True),
    sa.Column("code", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("listed_at", INSTANT, nullable=False),
)
