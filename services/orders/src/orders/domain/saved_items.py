"""Saved products and followed vendors of a buyer."""

from typing import Final

# Of each list: more than anyone reads, and a bound on the rows of one account.
ENTRIES_MAX: Final = 500
# Buyers of one event. The loop publishes the next batch after its commit.
SAVERS_BATCH: Final = 200
# Batches of one round, so that a shutdown waits for few.
BATCHES_MAX: Final = 50
