"""The events of an order's history."""

from typing import Literal

from orders.domain.pins import PinEvent
from orders.domain.transitions import Trigger

OrderEvent = Literal["placed", "line_cancelled", "arrived"] | Trigger | PinEvent
