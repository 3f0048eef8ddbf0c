"""Indexes of the ledger, and the signed statements of vendors."""

import sqlalchemy as sa

from payments.tables.metadata import metadata, required

_TRANSACTIONS = metadata.tables["ledger_transactions"].c

sa.Index("ledger_transactions_of_type", _TRANSACTIONS.type, _TRANSACTIONS.created_at, _TRANSACTIONS.position)
sa.Index(
    "ledger_balances_of_vendors",
    metadata.tables["ledger_balances"].c.account,
    postgresql_where=sa.text("account LIKE 'vendor\\_payable\\:%'"),
)

# `key_id`: the key that signed the newest statement. The worker signs for vendors without a row or under another key.
# A release by hand acts under row policies and signs in the same transaction.
sa.Table(
    "vendor_statements",
    metadata,
    sa.Column("vendor_id", sa.Uuid, primary_key=True),
    required("sequence", sa.BigInteger),
    required("key_id", sa.Text),
    sa.CheckConstraint("sequence >= 1", name="vendor_statements_counts_from_one"),
)
