"""The HTTP endpoints of the service, one module for each noun."""

from identity.routes import (
    campuses,
    codes,
    commission_changes,
    create_user,
    factors,
    keys,
    passkeys,
    profiles,
    sessions,
    staff,
    user_lookup,
    vendor_applications,
    vendors,
)

ROUTERS = [
    sessions.router,
    codes.router,
    factors.router,
    passkeys.router,
    keys.router,
    profiles.router,
    campuses.router,
    vendors.router,
    commission_changes.router,
    vendor_applications.router,
    staff.router,
    create_user.router,
    user_lookup.router,
]
