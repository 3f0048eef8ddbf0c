"""Numbers for people in events, checked where they are decoded (contract section 17.18)."""

from typing import Annotated, Final

import msgspec

# Crockford's base 32: no I, L, O and U.
_SYMBOLS: Final = "[0-9A-HJKMNP-TV-Z]{4}"

OrderNumber = Annotated[str, msgspec.Meta(pattern=f"^CM-{_SYMBOLS}-{_SYMBOLS}$")]
PayoutNumber = Annotated[str, msgspec.Meta(pattern=f"^PO-{_SYMBOLS}-{_SYMBOLS}$")]
TicketNumber = Annotated[str, msgspec.Meta(pattern=f"^CT-{_SYMBOLS}-{_SYMBOLS}$")]
