"""The table of roles and permissions (contract section 5), for the code and the documents."""

from collections.abc import Iterable, Mapping
from typing import Final

PERMISSIONS_BY_ROLE: Final[Mapping[str, frozenset[str]]] = {
    "buyer": frozenset({"orders:place"}),
    "merchant": frozenset(
        {
            "catalog:own",
            "flash_sales:keep",
            "orders:fulfil",
            "wallet:own",
            "bank_details:own",
            "webhooks:own",
            "api_keys:own",
            "shop_members:own",
            "work:read",
        }
    ),
    # Members of a shop (decision 206). A manager has no wallet, bank account, keys and members of the shop.
    "shop_manager": frozenset({"catalog:own", "flash_sales:keep", "orders:fulfil", "work:read"}),
    # Reads no amount of the shop: the token names the shop apart from `vendor_id`.
    "shop_packer": frozenset({"orders:pack", "work:read"}),
    "hub_agent": frozenset({"orders:verify", "work:read"}),
    "support_agent": frozenset(
        {
            "orders:read",
            "orders:cancel",
            "returns:decide",
            "reports:read",
            "reports:decide",
            "reviews:read",
            "reviews:moderate",
            "tickets:manage",
            "disputes:prepare",
            "pin_reissues:prepare",
            "goodwill:prepare",
            "factor_resets:prepare",
            "notifications:resend",
            "payments:read",
            "refunds:read",
            "quarantine:read",
            "staff_names:read",
            "work:read",
        }
    ),
    "campus_admin": frozenset(
        {
            "campuses:manage",
            "hub_agents:manage",
            "vendor_applications:decide",
            "vendors:suspend",
            "listings:delist",
            "flash_sales:propose",
            "campus_orders:read",
            "staff_names:read",
            "work:read",
        }
    ),
    "finance_maker": frozenset(
        {
            "charged_orders:read",
            "payouts:read",
            "payouts:dispatch",
            "payouts:hold",
            "exceptions:read",
            "exceptions:classify",
            "reconciliations:prepare",
            "bank_details:quarantine",
            "refunds:prepare",
            "quarantine:prepare",
            "chargebacks:respond",
            "ledger:read",
            "alerts:acknowledge",
            "money_alerts:read",
            "staff_names:read",
            "work:read",
        }
    ),
    "finance_checker": frozenset(
        {
            "charged_orders:read",
            "payouts:read",
            "payouts:approve",
            "payouts:hold",
            "exceptions:read",
            "bank_details:release",
            "reconciliations:approve",
            "refunds:approve",
            "quarantine:approve",
            "disputes:approve",
            "pin_reissues:approve",
            "goodwill:approve",
            "escrow:release",
            "chargebacks:respond",
            "ledger:read",
            "audits:read",
            "alerts:acknowledge",
            "money_alerts:read",
            "staff_names:read",
            "work:read",
        }
    ),
    "ops_oncall": frozenset(
        {
            "dead_letters:read",
            "delivery_logs:read",
            "webhooks:replay",
            "payouts:reset",
            "operations:stop",
            "exceptions:read",
            "exceptions:classify",
            "alerts:acknowledge",
            "alerts:read",
            "audits:read",
            "staff_names:read",
            "work:read",
        }
    ),
    "auditor": frozenset(
        {
            "orders:read",
            "charged_orders:read",
            "payments:read",
            "refunds:read",
            "quarantine:read",
            "payouts:read",
            "exceptions:read",
            "ledger:read",
            "ledger:export",
            "alerts:read",
            "money_alerts:read",
            "dead_letters:read",
            "campus_orders:read",
            "staff:read",
            "reports:read",
            "reviews:read",
            "delivery_logs:read",
            "tickets:read",
            "bank_details:read",
            "vendors:read",
            "vendor_applications:read",
            "campuses:read",
            "audits:read",
            "staff_names:read",
            "work:read",
        }
    ),
    "platform_admin": frozenset(
        {
            "staff:manage",
            "staff:read",
            "factor_resets:approve",
            "settings:manage",
            "vendors:commission",
            "campuses:manage_all",
            "webhooks:manage",
            "api_keys:manage",
            "staff_names:read",
            "work:read",
        }
    ),
}

# The first of these roles that a user holds is the `role` claim of the token.
ROLES_BY_RANK: Final[tuple[str, ...]] = (
    "platform_admin",
    "auditor",
    "finance_checker",
    "finance_maker",
    "ops_oncall",
    "campus_admin",
    "support_agent",
    "hub_agent",
    "merchant",
    "shop_manager",
    "shop_packer",
    "buyer",
)

SHOP_ROLES: Final[frozenset[str]] = frozenset({"shop_manager", "shop_packer"})
"""Roles of the members of a shop, whose owner is its merchant."""

STAFF_ROLES: Final[frozenset[str]] = frozenset(ROLES_BY_RANK) - {"buyer", "merchant"} - SHOP_ROLES

# Roles whose permissions hold only in a session with a second factor (contract section 5.4). A hub agent
# reads the orders of one hub, and works at a counter.
SECOND_FACTOR_ROLES: Final[frozenset[str]] = STAFF_ROLES - {"hub_agent"}

# Permissions to start, decide, divert or repeat a movement of money.
MONEY_PERMISSIONS: Final[frozenset[str]] = frozenset(
    {
        "orders:cancel",
        "returns:decide",
        "payouts:dispatch",
        "payouts:approve",
        "payouts:hold",
        "payouts:reset",
        "bank_details:quarantine",
        "bank_details:release",
        "reconciliations:prepare",
        "reconciliations:approve",
        "refunds:prepare",
        "refunds:approve",
        "goodwill:prepare",
        "goodwill:approve",
        "quarantine:prepare",
        "quarantine:approve",
        "disputes:approve",
        "escrow:release",
        "chargebacks:respond",
    }
)

# A grant of one of these needs a second platform_admin. Merchants handle only their own money, so theirs is not among
# them.
MONEY_ROLES: Final[frozenset[str]] = frozenset(
    role for role in STAFF_ROLES if not PERMISSIONS_BY_ROLE[role].isdisjoint(MONEY_PERMISSIONS)
)

# The scopes of API keys, each with the permission that its creator must hold and that the key acts with. An endpoint
# names the scopes that open it, so a key has none of the permission's other operations: no movement of money, no
# step-up.
SHOP_KEY_SCOPES: Final[Mapping[str, str]] = {
    "shop_orders:read": "orders:fulfil",
    "shop_orders:dispatch": "orders:fulfil",
    "shop_products:write": "catalog:own",
    "shop_money:read": "wallet:own",
}
PLATFORM_KEY_SCOPES: Final[Mapping[str, str]] = {
    "orders:read": "orders:read",
    "payments:read": "payments:read",
    "payouts:read": "payouts:read",
    "ledger:read": "ledger:read",
}
KEY_SCOPES: Final[Mapping[str, str]] = {**SHOP_KEY_SCOPES, **PLATFORM_KEY_SCOPES}


def permissions_of(roles: Iterable[str]) -> frozenset[str]:
    """Return the permissions of all roles; an unknown role has none."""
    return frozenset().union(*(PERMISSIONS_BY_ROLE.get(role, frozenset()) for role in roles))


def session_permissions_of(roles: Iterable[str], *, has_second_factor: bool) -> frozenset[str]:
    """Return the permissions of all roles that hold in a session with, or without, a second factor (contract section
    5.4).
    """
    return permissions_of(role for role in roles if has_second_factor or role not in SECOND_FACTOR_ROLES)


def leading_role(roles: Iterable[str]) -> str:
    """Return the highest role of a user, for the `role` claim."""
    held = set(roles)
    return next((role for role in ROLES_BY_RANK if role in held), "buyer")
