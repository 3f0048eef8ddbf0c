"""The tables of the database. `migrations/sql` has their functions, policies and grants.

**No caller reads credentials.** `accounts`, `sessions`, `refresh_tokens`, the factors, recovery codes, challenges and
`signing_keys` are granted to the service role alone, under row security without a policy. The auth endpoints act as
the service, take user and session from the verified token, and pass both as conditions of each statement. All other
tables are read as the caller under row policies. The API role may write only name and number of its own profile.
"""

from identity.tables import (
    api_keys,
    campuses,
    credentials,
    oidc,
    saved_views,
    shop_members,
    staff,
    users,
    vendors,
)
from identity.tables.metadata import metadata

__all__ = [
    "api_keys",
    "campuses",
    "credentials",
    "metadata",
    "oidc",
    "saved_views",
    "shop_members",
    "staff",
    "users",
    "vendors",
]
