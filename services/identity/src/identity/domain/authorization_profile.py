"""The roles, campus, hub and vendor of an access token (contract section 5)."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Literal
from uuid import UUID

from contracts.permissions import SHOP_ROLES, STAFF_ROLES, leading_role

# Roles, campus, hub and vendor in a token may be this old. It is short enough to trust them without a lookup.
ACCESS_LIFE: Final = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class AuthorizationProfile:
    """A user's roles, vendor, and the campus of their appointment or else of their studies."""

    user_id: UUID
    role: str
    roles: tuple[str, ...]
    campus_id: UUID | None
    vendor_id: UUID | None
    has_second_factor: bool
    # No token is issued to a suspended user, by any method.
    is_suspended: bool = False
    email_confirmed: bool = False
    # Whether the account has its own address and can sign in here, not only through a further issuer.
    signs_in_here: bool = False
    # The hub of a hub agent.
    hub_id: UUID | None = None
    # The shop whose orders a packer packs.
    packing_vendor_id: UUID | None = None

    @property
    def awaits_confirmation(self) -> bool:
        """Return whether the address must be confirmed before tokens are issued (contract section 10.1)."""
        return self.signs_in_here and not self.email_confirmed

    def without_email_rights(self) -> "AuthorizationProfile":
        """Remove what an unconfirmed address must not give: staff roles, those of a shop's member, and a campus
        (contract section 10.1).
        """
        profile = self.without_staff_roles()
        roles = tuple(role for role in profile.roles if role not in SHOP_ROLES)
        vendor_id = None if "shop_manager" in profile.roles else profile.vendor_id
        return replace(
            profile,
            role=leading_role(roles),
            roles=roles,
            campus_id=None,
            vendor_id=vendor_id,
            packing_vendor_id=None,
        )

    def without_staff_roles(self) -> "AuthorizationProfile":
        """Remove staff roles, for an issuer that may not assert them."""
        roles = tuple(role for role in self.roles if role not in STAFF_ROLES)
        return replace(self, role=leading_role(roles), roles=roles, hub_id=None)


@dataclass(frozen=True, slots=True)
class SignIn:
    """How and when a user authenticated in a session."""

    session_id: UUID
    signed_in_at: datetime
    stepped_up_at: datetime | None = None
    method: str = "password"
    stepped_up_by: str | None = None
    stepped_up_factor_id: UUID | None = None

    def stepped_up(self, method: str, factor_id: UUID | None, now: datetime) -> "SignIn":
        """Return the sign-in with a second factor verified now. A recovery code is not a factor and has no id.

        The step-up counts from its full second, because tokens have no fractions: so it expires everywhere at once.
        """
        second = now.replace(microsecond=0)
        return replace(self, stepped_up_at=second, stepped_up_by=method, stepped_up_factor_id=factor_id)

    @property
    def aal(self) -> Literal["aal1", "aal2"]:
        """Return `aal2` after a second factor of any age (contract section 5.4); `amr` shows its time."""
        return "aal1" if self.stepped_up_at is None else "aal2"


def claims_of(
    profile: AuthorizationProfile, sign_in: SignIn, *, issuer: str, audience: str, now: datetime
) -> dict[str, object]:
    """Return the claims of an access token issued now."""
    methods = [{"method": sign_in.method, "timestamp": int(sign_in.signed_in_at.timestamp())}]
    if sign_in.stepped_up_at is not None:
        # The previous release stored no method: it had only TOTP.
        methods.append({"method": sign_in.stepped_up_by or "totp", "timestamp": int(sign_in.stepped_up_at.timestamp())})
    return {
        "iss": issuer,
        "aud": audience,
        "sub": str(profile.user_id),
        "iat": int(now.timestamp()),
        "exp": int((now + ACCESS_LIFE).timestamp()),
        "session_id": str(sign_in.session_id),
        "role": profile.role,
        "aal": sign_in.aal,
        "email_verified": profile.email_confirmed,
        "amr": methods,
        "app_metadata": {
            "roles": list(profile.roles),
            "vendor_id": str(profile.vendor_id) if profile.vendor_id else None,
            "campus_id": str(profile.campus_id) if profile.campus_id else None,
            "hub_id": str(profile.hub_id) if profile.hub_id else None,
            "packing_vendor_id": str(profile.packing_vendor_id) if profile.packing_vendor_id else None,
        },
    }
