"""What an access token says about a person (contract section 5)."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from common.auth.caller import STEP_UP_LIFE
from contracts.permissions import STAFF_ROLES, leading_role

# Roles, campus and vendor in a token are as old as the token: short enough to be believed without asking.
ACCESS_LIFE: Final = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class AuthorizationProfile:
    """Who a person is at this moment: roles, own vendor, and the campus of their office or else of their studies."""

    user_id: UUID
    role: str
    roles: tuple[str, ...]
    campus_id: UUID | None
    vendor_id: UUID | None
    has_second_factor: bool
    # Whoever is suspended is given no token, whichever way they came.
    is_suspended: bool = False
    email_confirmed: bool = False
    # Whether the account has an address of its own, and not only sessions of a further issuer.
    signs_in_here: bool = False

    @property
    def awaits_confirmation(self) -> bool:
        """Whether the account gets no tokens before its address is proven (contract section 10.1)."""
        return self.signs_in_here and not self.email_confirmed

    def without_email_rights(self) -> "AuthorizationProfile":
        """The same person without what an unproven address must not give: roles of staff, and a campus (contract section 10.1)."""
        return replace(self.without_staff_roles(), campus_id=None)

    def without_staff_roles(self) -> "AuthorizationProfile":
        """The same person as seen by an issuer that may not speak about staff."""
        roles = tuple(role for role in self.roles if role not in STAFF_ROLES)
        return replace(self, role=leading_role(roles), roles=roles)


@dataclass(frozen=True, slots=True)
class SignIn:
    """How and when a person proved themselves in a session."""

    session_id: UUID
    signed_in_at: datetime
    stepped_up_at: datetime | None = None
    method: str = "password"
    stepped_up_by: str | None = None
    stepped_up_factor_id: UUID | None = None

    def stepped_up(self, method: str, factor_id: UUID | None, now: datetime) -> "SignIn":
        """The same sign-in with a second factor that was shown now; a recovery code is no factor and has no id.

        A token tells seconds only. The step-up counts from its full second here too, so that it ends everywhere at once.
        """
        second = now.replace(microsecond=0)
        return replace(self, stepped_up_at=second, stepped_up_by=method, stepped_up_factor_id=factor_id)

    def aal(self, now: datetime) -> str:
        """`aal2` while the second factor is not older than 15 minutes, else `aal1`: a refresh does not make it younger."""
        fresh = self.stepped_up_at is not None and now - self.stepped_up_at <= STEP_UP_LIFE
        return "aal2" if fresh else "aal1"


def claims_of(
    profile: AuthorizationProfile, sign_in: SignIn, *, issuer: str, audience: str, now: datetime
) -> dict[str, Any]:
    """The claims of an access token issued now."""
    methods = [{"method": sign_in.method, "timestamp": int(sign_in.signed_in_at.timestamp())}]
    if sign_in.stepped_up_at is not None:
        # A chain without a method was begun by the release before methods were kept, which knew one only.
        methods.append({"method": sign_in.stepped_up_by or "totp", "timestamp": int(sign_in.stepped_up_at.timestamp())})
    return {
        "iss": issuer,
        "aud": audience,
        "sub": str(profile.user_id),
        "iat": int(now.timestamp()),
        "exp": int((now + ACCESS_LIFE).timestamp()),
        "session_id": str(sign_in.session_id),
        "role": profile.role,
        "aal": sign_in.aal(now),
        "email_verified": profile.email_confirmed,
        "amr": methods,
        "app_metadata": {
            "roles": list(profile.roles),
            "vendor_id": str(profile.vendor_id) if profile.vendor_id else None,
            "campus_id": str(profile.campus_id) if profile.campus_id else None,
        },
    }
