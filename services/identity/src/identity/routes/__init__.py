"""The HTTP endpoints of the service, one module for each noun."""

from identity.routes import (
    campuses,
    codes,
    commission_changes,
    create_user,
    factor_resets,
    factors,
    hub_agents,
    keys,
    oidc,
    passkeys,
    profiles,
    sessions,
    staff,
    user_lookup,
    vendor_applications,
    vendors,
)

ENDPOINTS = (
    sessions.endpoint,
    oidc.endpoint,
    codes.endpoint,
    factors.endpoint,
    passkeys.endpoint,
    factor_resets.endpoint,
    keys.endpoint,
    profiles.endpoint,
    campuses.endpoint,
    hub_agents.endpoint,
    vendors.endpoint,
    commission_changes.endpoint,
    vendor_applications.endpoint,
    staff.endpoint,
    create_user.endpoint,
    user_lookup.endpoint,
)
