"""The caller of a request. Every unit of work requires one (contract section 5)."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from common.primitives.problems import Forbidden, SecondFactorRequired, StepUpRequired, Unauthorized
from contracts.permissions import permissions_of, session_permissions_of

# The settings `app.<name>` that row policies read (docs/decisions/0005).
ROW_SETTINGS: Final = ("user_id", "vendor_id", "campus_id", "hub_id", "packing_vendor_id", "permissions")
# An operation that needs a step-up accepts a second factor of this age at most (contract section 5).
STEP_UP_LIFE = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class Caller:
    """The user of a verified token, the API key of a machine, or the anonymous caller."""

    user_id: UUID | None = None
    session_id: UUID | None = None
    roles: frozenset[str] = frozenset()
    # The permissions that hold in this session.
    permissions: frozenset[str] = frozenset()
    # The permissions of the roles that need a second factor in this session first (contract section 5.4).
    withheld: frozenset[str] = frozenset()
    vendor_id: UUID | None = None
    campus_id: UUID | None = None
    # The hub of a hub agent; None for everyone else.
    hub_id: UUID | None = None
    # The shop whose orders a packer packs. It is no `vendor_id`, so that no policy of a vendor admits a packer.
    packing_vendor_id: UUID | None = None
    stepped_up_at: datetime | None = None
    issued_at: datetime | None = None
    expires_at: datetime | None = None
    # The trusted issuer of the token (contract section 5.2); None for a token of our own.
    issuer: str | None = None
    # Whether the mail address is confirmed (contract section 10.1).
    email_confirmed: bool = False
    # The scopes of an API key; None for a user. `user_id` and `session_id` of a key are its own id, so that it reads
    # no rows of its creator.
    key_scopes: frozenset[str] | None = None
    # The values of ROW_SETTINGS: UUIDs, and permissions of our table.
    row_settings: tuple[str, ...] = field(init=False, compare=False, default=())

    def __post_init__(self) -> None:
        named = (self.user_id, self.vendor_id, self.campus_id, self.hub_id, self.packing_vendor_id)
        ids = (str(one or "") for one in named)
        settings = (*ids, ",".join(sorted(self.permissions)))
        if any("'" in value or "\\" in value for value in settings):
            raise ValueError("a row setting holds ids and permission words only")
        object.__setattr__(self, "row_settings", settings)

    @property
    def owned_vendor_id(self) -> UUID | None:
        """The vendor that the caller owns; None for a manager of its shop."""
        return self.vendor_id if "merchant" in self.roles else None

    @property
    def id(self) -> UUID:
        """The user's id; Unauthorized for an anonymous caller."""
        if self.user_id is None:
            raise Unauthorized
        return self.user_id

    def may(self, permission: str) -> bool:
        return permission in self.permissions

    def must_be_allowed(self, permission: str) -> None:
        """Raise Forbidden (403 AUTH_FORBIDDEN) and SecondFactorRequired (403 AUTH_AAL2_REQUIRED)."""
        self.must_be_allowed_one_of(permission)

    def must_be_allowed_one_of(self, *permissions: str) -> None:
        """Raise Forbidden when no role gives one of the permissions, SecondFactorRequired when this session holds
        none.
        """
        if self.permissions.isdisjoint(permissions):
            raise Forbidden if self.withheld.isdisjoint(permissions) else SecondFactorRequired

    def must_have_stepped_up(self, now: datetime) -> None:
        """Raise StepUpRequired (403 AUTH_AAL2_REQUIRED) unless the second factor was shown within 15 minutes."""
        if self.stepped_up_at is None or now - self.stepped_up_at > STEP_UP_LIFE:
            raise StepUpRequired


def permissions_in_session(
    roles: frozenset[str], stepped_up_at: datetime | None
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the permissions that hold in a session and those that it withholds: a second factor of any age opens
    all.
    """
    held = session_permissions_of(roles, has_second_factor=stepped_up_at is not None)
    return held, permissions_of(roles) - held


@dataclass(frozen=True, slots=True)
class ServiceItself:
    """The service acting without a user: consumers, timers, functions. Bypasses row policies."""

    reason: str = "the service's own work"


ANONYMOUS: Final = Caller()
THE_SERVICE: Final = ServiceItself()
