"""SQL for writes. Each function runs one statement of the caller's unit of work and decides nothing.

All transactions lock in one order: the order's row first, then products by id. Timers, refunds and PINs of an order are
touched only under the lock of the order's row.
"""
