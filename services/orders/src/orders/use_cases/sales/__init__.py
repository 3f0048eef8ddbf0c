"""The figures of sales, as payments reports them.

**Sales are rows of items with their share of the order's money** (`sale_lines`), replaced by the newest state that
payments publishes (decision 52). Payments has the ledger; the audit compares both.
"""
