"""Campuses and their hubs.

**Staff write campuses and hubs as themselves, and decide on vendors as the service.** Row policies restrict campuses
and hubs to their staff. A decision on a vendor writes roles and states, which no caller may write. So the caller's
right is checked first, in the caller's own unit of work, by rows that never change. Private vendor fields are not
granted to the API role; the view `vendors_in_full` has its own condition.
"""
