"""API keys of the own shop and of the platform: created, shown once, revoked."""

from datetime import UTC, datetime, timedelta
from typing import Final

from starlette.responses import Response

from console.api import Json
from console.families import Screens
from console.formats import instant
from console.lists import Column, ListView, load_list, show_list
from console.visit import InvalidField, Visit
from contracts.permissions import PLATFORM_KEY_SCOPES, SHOP_KEY_SCOPES

SCREENS = Screens()

OWNERS: Final = ("api_keys:own", "api_keys:manage")
SCOPE_WORDS: Final = {
    "shop_orders:read": "Read the shop's orders and sales",
    "shop_orders:dispatch": "Mark the shop's orders as sent",
    "shop_products:write": "Change the shop's products, stock and images",
    "shop_money:read": "Read the shop's wallet, statements and payouts",
    "orders:read": "Read all orders",
    "payments:read": "Read all payments",
    "payouts:read": "Read all payouts and wallets",
    "ledger:read": "Read the ledger",
}
LIVES: Final = (("30", "30 days"), ("90", "90 days"), ("180", "180 days"), ("365", "a year"))
# A mail warns its creator as early.
_SOON: Final = timedelta(days=14)


def _state(key: Json) -> str:
    expires_at = instant(key["expiresAt"])
    if key["revokedAt"]:
        return "revoked"
    if expires_at is None or expires_at <= datetime.now(UTC):
        return "expired"
    return "expires soon" if expires_at <= datetime.now(UTC) + _SOON else "live"


KEYS = ListView(
    "/api/api-keys",
    columns=(
        Column("Name", "name"),
        Column("Key", "hint"),
        Column("Status", _state, "badge"),
        Column("May", lambda key: "; ".join(SCOPE_WORDS[scope] for scope in key["scopes"])),
        Column("From", lambda key: ", ".join(key["networks"]) or "every address"),
        Column("Of", lambda key: "the shop" if key["vendorId"] else "the platform"),
        Column("Last used", "lastUsedAt", "ago"),
        Column("Expires", "expiresAt", "time"),
    ),
    empty="No program has a key. Create one for a program that reads or changes this data without a person.",
)


@SCREENS.page("/api-keys", title="API keys", any_of=OWNERS, menu="API keys")
async def keys_page(visit: Visit) -> Response:
    if visit.query.get("format") == "csv":
        return await show_list(visit, KEYS)
    shown = await load_list(visit, KEYS)
    live = [(key["id"], f"{key['name']} ({key['hint']})") for key in shown.rows.items if not key["revokedAt"]]
    return visit.render("everyone/api_keys.html", shown=shown, live=live)


@SCREENS.page("/api-keys/new", title="New API key", any_of=OWNERS)
async def new_key_page(visit: Visit) -> Response:
    offered = {
        **(SHOP_KEY_SCOPES if visit.may("api_keys:own") else {}),
        **(PLATFORM_KEY_SCOPES if visit.may("api_keys:manage") else {}),
    }
    scopes = [(scope, SCOPE_WORDS[scope]) for scope, permission in offered.items() if visit.may(permission)]
    return visit.render("everyone/new_api_key.html", scopes=scopes, lives=LIVES)


@SCREENS.action("/api-keys/new", any_of=OWNERS, page=new_key_page)
async def create_key(visit: Visit) -> Response:
    form, days = visit.form, visit.form["days"]
    if days not in dict(LIVES):
        raise InvalidField("days", "choose how long the key lives")
    if not form.every("scopes"):
        raise InvalidField("scopes", "choose at least one")
    body = {
        "name": form["name"],
        "scopes": form.every("scopes"),
        "networks": form["networks"].split(),
        "expiresAt": (datetime.now(UTC) + timedelta(days=int(days))).isoformat(),
    }
    key: Json = await visit.api.post("/api/api-keys", body)
    return visit.render(
        "everyone/secret.html",
        title=f"The key of {key['name']}",
        advice="Give this key to the program. It sends it as Authorization: Bearer followed by the key.",
        secret=key["key"],
        back="/api-keys",
    )


@SCREENS.action("/api-keys/revoke", any_of=OWNERS, page=keys_page)
async def revoke_key(visit: Visit) -> Response:
    await visit.api.delete(f"/api/api-keys/{visit.form['key']}")
    return visit.go("/api-keys", "The key is revoked. Programs that still use it are refused from now on.")
