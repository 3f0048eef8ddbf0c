"""Indexes of the ledger, its totals by day, and the signed statements of vendors."""

import sqlalchemy as sa

from payments.tables.metadata import CURRENCY, metadata, required

_TRANSACTIONS = metadata.tables["ledger_transactions"].c

sa.Index("ledger_transactions_of_type", _TRANSACTIONS.type, _TRANSACTIONS.created_at, _TRANSACTIONS.position)
sa.Index(
    "ledger_balances_of_vendors",
    metadata.tables["ledger_balances"].c.account,
    postgresql_where=sa.text("account LIKE 'vendor\\_payable\\:%'"),
)

# Sums of the linked transactions by UTC day of posting, for trial balances (decision 217). `sequence`: the last link
# that the row includes; the highest one is the end of all totals. `accounts`: those with their first entry there.
sa.Table(
    "ledger_totals",
    metadata,
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("kind", sa.Text, primary_key=True),
    sa.Column("currency", CURRENCY, primary_key=True),
    required("accounts", sa.BigInteger),
    required("debit_minor", sa.BigInteger),
    required("credit_minor", sa.BigInteger),
    required("sequence", sa.BigInteger),
    sa.CheckConstraint("accounts >= 0 AND debit_minor >= 0 AND credit_minor >= 0", name="ledger_totals_not_below_zero"),
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
