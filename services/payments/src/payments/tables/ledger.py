"""Indexes of the ledger, and the signed statements of vendors."""

import sqlalchemy as sa

from payments.tables.metadata import metadata, required

sa.Index(
    "ledger_transactions_of_type",
    metadata.tables["ledger_transactions"].c.type,
    metadata.tables["ledger_transactions"].c.created_at,
    metadata.tables["ledger_transactions"].c.position,
)
sa.Table(
    "vendor_statements",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    required("sequence", sa.BigInteger),
    required("key_id", sa.Text),
)
sa.Index(
    "ledger_balances_of_vendors",
    metadata.tables["ledger_balances"].c.account,
    postgresql_where=sa.text("account LIKE 'vendor\\_payable:%'"),
)
