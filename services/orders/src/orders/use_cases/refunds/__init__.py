"""Refunds of orders, as payments reports them.

**Only refunds of the order's own requests change it**, by their `refundId`. An event of another refund counts as
stale at once and causes no retries: a refund is stored before it is requested, so a later event cannot make it known.
"""
