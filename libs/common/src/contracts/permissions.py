"""Who may do what: the one table of roles and permissions (contract section 5). The code reads it and the docs print it."""

from collections.abc import Iterable, Mapping
from typing import Final

PERMISSIONS_BY_ROLE: Final[Mapping[str, frozenset[str]]] = {
    "buyer": frozenset({"orders:place"}),
    "merchant": frozenset({"catalog:own", "flash_sales:keep", "orders:fulfil", "wallet:own", "bank_details:own"}),
    "hub_agent": frozenset({"orders:verify"}),
    "support_agent": frozenset(
        {
            "orders:read",
            "orders:cancel",
            "returns:decide",
            "reviews:read",
            "reviews:moderate",
            "tickets:manage",
            "disputes:prepare",
            "notifications:resend",
            "payments:read",
            "refunds:read",
            "quarantine:read",
        }
    ),
    "campus_admin": frozenset(
        {
            "campuses:manage",
            "vendor_applications:decide",
            "vendors:suspend",
            "flash_sales:propose",
            "campus_orders:read",
        }
    ),
    "finance_maker": frozenset(
        {
            "payouts:read",
            "payouts:dispatch",
            "exceptions:read",
            "exceptions:classify",
            "reconciliations:prepare",
            "bank_details:quarantine",
            "refunds:prepare",
            "quarantine:prepare",
            "ledger:read",
        }
    ),
    "finance_checker": frozenset(
        {
            "payouts:read",
            "exceptions:read",
            "reconciliations:approve",
            "refunds:approve",
            "quarantine:approve",
            "disputes:approve",
            "escrow:release",
            "ledger:read",
        }
    ),
    "ops_oncall": frozenset(
        {
            "dead_letters:read",
            "webhooks:replay",
            "payouts:reset",
            "exceptions:read",
            "exceptions:classify",
            "alerts:read",
        }
    ),
    "auditor": frozenset(
        {
            "orders:read",
            "payments:read",
            "refunds:read",
            "quarantine:read",
            "payouts:read",
            "exceptions:read",
            "ledger:read",
            "ledger:export",
            "alerts:read",
            "dead_letters:read",
            "campus_orders:read",
            "staff:read",
            "reviews:read",
            "delivery_logs:read",
            "tickets:read",
            "bank_details:read",
            "vendors:read",
            "vendor_applications:read",
            "campuses:read",
        }
    ),
    "platform_admin": frozenset(
        {"staff:manage", "staff:read", "settings:manage", "vendors:commission", "campuses:manage_all"}
    ),
}

# The first role of this order that a person holds is the `role` claim of the token.
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
    "buyer",
)

STAFF_ROLES: Final[frozenset[str]] = frozenset(ROLES_BY_RANK) - {"buyer", "merchant"}

# What starts, decides, diverts or repeats a movement of the platform's or a vendor's money. Cancelling an order and deciding on
# a return are not among it: they give a buyer back what that buyer paid, along the order's own path.
MONEY_PERMISSIONS: Final[frozenset[str]] = frozenset(
    {
        "payouts:dispatch",
        "payouts:reset",
        "bank_details:quarantine",
        "reconciliations:prepare",
        "reconciliations:approve",
        "refunds:prepare",
        "refunds:approve",
        "quarantine:prepare",
        "quarantine:approve",
        "disputes:approve",
        "escrow:release",
    }
)

# A grant of one of these needs a second platform_admin. What a merchant may do with their own money is no office.
MONEY_ROLES: Final[frozenset[str]] = frozenset(
    role for role in STAFF_ROLES if not PERMISSIONS_BY_ROLE[role].isdisjoint(MONEY_PERMISSIONS)
)


def permissions_of(roles: Iterable[str]) -> frozenset[str]:
    """The union over the roles; an unknown role gives nothing."""
    return frozenset().union(*(PERMISSIONS_BY_ROLE.get(role, frozenset()) for role in roles))


def leading_role(roles: Iterable[str]) -> str:
    """The highest role of a person, for the `role` claim."""
    held = set(roles)
    return next((role for role in ROLES_BY_RANK if role in held), "buyer")
