"""Mark of a request that asks for a change: set by the HTTP layer, read by the unit of work.

What the response to a change states must be as durable as the change, also when a repetition finds it done
(decision 83).
"""

from contextvars import ContextVar
from typing import Final

CHANGES: Final[ContextVar[bool]] = ContextVar("changes", default=False)
