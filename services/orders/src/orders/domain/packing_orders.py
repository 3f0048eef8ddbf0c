"""Orders as packers of a shop see them (decision 206)."""

from typing import Literal

# A packer sees an order from its payment on, also when its money was released: a repeated request returns it.
PackingStatus = Literal["paid_escrow", "dispatched", "delivered", "paid"]
