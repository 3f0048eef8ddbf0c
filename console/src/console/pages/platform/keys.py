"""The signing keys and the quotas."""

from typing import Any, Final

from starlette.responses import Response

from console.families import Screens
from console.lists import Column, ListView, show_list
from console.visit import Visit

SCREENS = Screens()

KEYS = ListView(
    "/api/signing-keys",
    columns=(
        Column("Key", "kid"),
        Column("Algorithm", "algorithm"),
        Column("Status", "status", "badge"),
        Column("Made", "createdAt", "time"),
        Column("Signs from", "signsFrom", "time"),
        Column("Age", "createdAt", "ago"),
        Column("Retired", "retiredAt", "time"),
        Column("Because", "retiredBecause"),
    ),
    empty="No key exists yet.",
)


@SCREENS.page("/signing-keys", title="Signing keys", any_of=("settings:manage", "audits:read"), menu="Signing keys")
async def keys_page(visit: Visit) -> Response:
    return await show_list(visit, KEYS, "platform/keys.html")


@SCREENS.page("/quotas", title="Quotas", any_of=("settings:manage",), menu="Quotas")
async def quotas_page(visit: Visit) -> Response:
    """Return the caller's own quota, from the headers of one call, and what each tier is for."""
    headers: Any = (await visit.api.document("/api/profiles/current", accept="application/json")).headers
    return visit.render(
        "platform/quotas.html",
        limit=headers.get("ratelimit-limit"),
        remaining=headers.get("ratelimit-remaining"),
        tiers=TIERS,
    )


TIERS: Final = (
    ("1", "RATE_TIER_1", "address", "browsing without a sign-in"),
    ("2", "RATE_TIER_2", "user", "buyers"),
    ("3", "RATE_TIER_3", "user", "vendors and staff"),
    ("4", "RATE_TIER_4", "user or address and account", "sign-in, codes, payments, bank details, payouts"),
    ("5", "RATE_TIER_5", "user", "the assistant"),
    ("images", "RATE_TIER_MEDIA", "address", "images of products"),
)
"""The tiers of the contract, section 4, and the settings that hold their quotas."""
