"""Money in events: integers in kobo, bounded where they are decoded."""

from typing import Annotated, Final

import msgspec

# The largest order that checkout accepts is 100 cart lines of 99 pieces at the highest price of a product (10^9 kobo) plus
# the delivery fee: 9.9 * 10^12 kobo. No valid event has more; a forged or corrupted one would.
AMOUNT_MINOR_MAX: Final = 10_000_000_000_000

MinorAmount = Annotated[int, msgspec.Meta(ge=0, le=AMOUNT_MINOR_MAX)]

# A running total over many movements; a correction may make it negative. Ten thousand of the largest orders, within 64 bits.
TOTAL_MINOR_MAX: Final = 10_000 * AMOUNT_MINOR_MAX
MinorTotal = Annotated[int, msgspec.Meta(ge=-TOTAL_MINOR_MAX, le=TOTAL_MINOR_MAX)]
