"""Orders as packers of a shop see them (decision 206)."""

from typing import Literal

# A packer sees an order from its payment to the end of its return window.
PackingStatus = Literal["paid_escrow", "dispatched", "delivered"]
