"""Names and the own campus, for the screens about campuses and vendors."""

from base64 import urlsafe_b64decode

import msgspec

from console.api import Json
from console.visit import Visit


async def campus_names(visit: Visit) -> dict[str, str]:
    """Return the names of all campuses by id."""
    return {campus["id"]: campus["name"] async for campus in visit.api.every_row("/api/campuses")}


def own_campus(visit: Visit) -> str:
    """Return the campus of an admin of one campus, from the token's claims (contract section 5.1); empty for those who
    see all.

    The profile has the campus of the studies, which may be another one or none.
    """
    if not visit.may("vendor_applications:decide", "campuses:manage"):
        return ""
    claims = visit.session.access_token.split(".")[1]
    decoded: Json = msgspec.json.decode(urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    return decoded["app_metadata"]["campus_id"] or ""


def percent(basis_points: int | None) -> str:
    """Basis points as per cent: 500 is 5.00 %."""
    return "default" if basis_points is None else f"{basis_points // 100}.{basis_points % 100:02d} %"
