"""Numbers for people in events, checked where they are decoded (contract section 1.7)."""

from typing import Annotated, Final

import msgspec

# Crockford's base 32: no I, L, O and U.
_SYMBOLS: Final = "[0-9A-HJKMNP-TV-Z]{4}"

OrderNumber = Annotated[str, msgspec.Meta(pattern=f"^CM-{_SYMBOLS}-{_SYMBOLS}$", examples=["CM-R80T-M2NG"])]
PurchaseNumber = Annotated[str, msgspec.Meta(pattern=f"^CP-{_SYMBOLS}-{_SYMBOLS}$", examples=["CP-5W1C-8TKA"])]
PayoutNumber = Annotated[str, msgspec.Meta(pattern=f"^PO-{_SYMBOLS}-{_SYMBOLS}$", examples=["PO-7K3D-9QXW"])]
TicketNumber = Annotated[str, msgspec.Meta(pattern=f"^CT-{_SYMBOLS}-{_SYMBOLS}$", examples=["CT-4H2V-0BZE"])]
