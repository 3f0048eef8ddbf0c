"""The named errors of this service."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from common.primitives.problems import (
    Conflict,
    Forbidden,
    InvalidParam,
    NotFound,
    RateLimited,
    Unauthorized,
    ValidationFailed,
)
from identity.domain.saved_views import VIEWS_MAX


class WrongCredentials(Unauthorized):
    """Unknown address or wrong password: the response does not reveal which (contract section 10)."""

    detail = "The address or the password is wrong."

    def __init__(self, user_id: UUID | None = None) -> None:
        """`user_id` is the known account, for the access log. The response does not have it."""
        super().__init__()
        self.user_id = user_id


class ConfirmationRequired(Forbidden):
    """The account's mail address is not confirmed. Clients prompt for the code (contract section 10.1)."""

    detail = "Confirm your mail address first. A code has been sent to it."

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, extensions={"confirmationRequired": True})


class ConfirmationWithoutMail(ConfirmationRequired):
    """No further code is mailed now: the budget of the mailbox is used up."""

    detail = (
        "Confirm your mail address first, with the last code that was sent to it. Too many codes were requested: no "
        "further one was sent now."
    )


class EmailNotConfirmed(ConfirmationRequired):
    """A user of a further issuer, whose address neither the issuer nor create-user has confirmed."""

    detail = "Confirm your mail address first, where you sign in. Then try again."


class SessionInvalid(Unauthorized):
    """The refresh token is unknown, used, or of a revoked session; or the session is not of this service."""

    detail = "The session has ended. Sign in again."


class WrongCode(ValidationFailed):
    """The TOTP or recovery code is wrong, used, or belongs to no factor of the caller."""

    detail = "The code is wrong or was used before."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("code", "is wrong or was used before")])


class TooManyMessages(RateLimited):
    """The budget of a mailbox, number, account, address or of all texts is used up. Unknown addresses count alike."""

    detail = "Too many codes were requested. Codes that you have received stay valid. Wait and try again."

    def __init__(self, wait: timedelta) -> None:
        super().__init__(headers={"Retry-After": str(max(1, -(-int(wait.total_seconds() * 1000) // 1000)))})


class NumberNotAccepted(ValidationFailed):
    """The number is no mobile number of a country that texts are sent to (contract section 10.2)."""

    def __init__(self, countries: Collection[str]) -> None:
        reason = f"is not a mobile number of {', '.join(sorted(countries))}"
        super().__init__(f"The phone number {reason}.", invalid_params=[InvalidParam("phone", reason)])


class WrongOneTimeCode(ValidationFailed):
    """The sent code is wrong, used or expired, or the address is unknown: the response does not reveal which."""

    detail = "The code is wrong, was used before, or is too old."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("code", "is wrong, was used before, or is too old")])


class UnknownProvider(NotFound):
    """OIDC_PROVIDERS has no provider of this name."""

    detail = "There is no identity provider of this name."


class ReturnNotAllowed(ValidationFailed):
    """The page of a sign-in is not on an origin of ALLOWED_ORIGINS (contract section 10.6)."""

    def __init__(self) -> None:
        reason = "must be the address of a page on an origin that ALLOWED_ORIGINS of identity lists"
        super().__init__(f"returnTo {reason}.", invalid_params=[InvalidParam("returnTo", reason)])


class UnknownSignIn(ValidationFailed):
    """The `state` of a provider's callback is unknown, used, expired, or of another provider."""

    detail = "This sign-in is unknown, was finished before, or is too old. Start again."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("state", "is unknown, was used before, or is too old")])


class InvalidLogoutToken(ValidationFailed):
    """The logout token of a provider is invalid or was used before. 400, as OpenID Connect Back-Channel Logout asks."""

    status, detail = 400, "The logout token is not valid, or was used before."


class WrongResetToken(ValidationFailed):
    """The token of a password reset is wrong, used or expired."""

    detail = "The code of the mail is wrong, was used before, or is too old. Have another mail sent."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("token", "is wrong, was used before, or is too old")])


class WrongCurrentPassword(ValidationFailed):
    """The current password of a change is wrong. 401 would make clients refresh a valid token."""

    detail = "The current password is wrong."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("currentPassword", "is wrong")])


class TooManyWrongCodes(RateLimited):
    """After five consecutive wrong codes the next one must wait."""

    detail = "Too many wrong codes. Wait and try again."

    def __init__(self, wait: timedelta) -> None:
        super().__init__(headers={"Retry-After": str(max(1, -(-int(wait.total_seconds() * 1000) // 1000)))})


class TooManyFactors(Conflict):
    """A user has at most ten factors of a kind (README)."""

    detail = "You have reached the limit of 10 factors of this kind. Remove one first."


class SecondFactorMissing(Conflict):
    """Recovery codes require a second factor, an assertion requires a passkey: the user has none."""

    detail = "You have no second factor of this kind yet."


class LastFactorOfStaff(Conflict):
    """Staff must keep a second factor, which their actions require."""

    detail = "Staff must keep a second factor, and this is your only one. Add another first."


class FactorIdWithRecoveryCode(ValidationFailed):
    """The request names a factor in addition to a recovery code."""

    detail = "A recovery code does not belong to a factor. Omit factorId."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("factorId", "must be absent beside a recovery code")])


class ChallengeInvalid(ValidationFailed):
    """The challenge is unknown, used, expired, or of another user, session or purpose."""

    detail = "The challenge is used, expired or not yours. Request new options."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("challengeId", "is used, expired or not yours")])


class PasskeyRejected(ValidationFailed):
    """The authenticator's response is invalid. The response does not reveal which check failed."""

    detail = "The passkey's response is not valid for this challenge on this site."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("credential", "is not valid for this challenge on this site")])


class KeysStillInUse(Exception):
    """Tokens signed by the previous signing keys may still be valid."""


class UnknownKey(Exception):
    """No signing key has this `kid`."""


class ProfileMissing(Forbidden):
    """A valid token of a user without a profile: create-user was not called (contract section 5.2)."""

    detail = "There is no profile for this user yet."


class AnotherCampus(Forbidden):
    """Every caller may read it, but only staff of its campus may change it."""

    detail = "This belongs to a campus other than yours."


class DomainInUse(Conflict):
    detail = "Another campus uses this mail domain."


class UnknownCampus(ValidationFailed):
    """The campus does not exist or is closed."""

    detail = "There is no such campus."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("campusId", "there is no such campus")])


class CampusClosed(Conflict):
    detail = "The campus of this application is closed. Open it again first, or reject the application."


class ApplicationOpen(Conflict):
    """A user has at most one open application."""

    detail = "You have an application that is not decided yet."


class VendorOwned(Conflict):
    """A user owns at most one vendor."""

    detail = "This user owns a vendor already."


class OwnApplication(Forbidden):
    detail = "You cannot decide on your own application. Another member of the staff must."


class OwnVendor(Forbidden):
    detail = "You cannot decide on your own vendor. Another member of the staff must."


class ApplicationDecidedOtherwise(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The application was {status} before.")


class ConcurrentProvisioning(Conflict):
    """Another transaction (the demo data) created a profile with this id."""

    detail = "Another request is creating this profile. Try again."


class WrongPassword(ValidationFailed):
    """The password of an erasure request is wrong. 401 would make clients refresh a valid token."""

    detail = "The password is wrong."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("password", "is wrong")])


class OpenObligations(Conflict):
    """Staff, and owners of a suspended vendor, cannot be erased."""

    def __init__(self, *, is_staff: bool) -> None:
        reason = "you hold a staff role" if is_staff else "your vendor is suspended"
        super().__init__(f"Your account cannot be erased while {reason}.")


class VendorIsClosed(Conflict):
    """The owner was erased, so the vendor can no longer change."""

    detail = "This vendor is permanently closed."


class UserSuspended(WrongCredentials):
    """No tokens are issued to a suspended user. The response equals that of a wrong password."""


class OwnGrant(Forbidden):
    detail = "You cannot grant a role to yourself. Another platform_admin must."


class OwnAppointment(Forbidden):
    detail = "You cannot suspend yourself or revoke your own role. Another platform_admin must."


class OwnHubAgent(Forbidden):
    detail = "You cannot appoint or dismiss yourself as a hub agent."


class NoLongerCampusAdmin(Conflict):
    detail = "You are no longer an active campus admin of this campus. Sign in again."


class UnknownAppointee(ValidationFailed):
    """The address belongs to no account, or is not confirmed."""

    detail = "No account has confirmed this mail address."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("email", "no account has confirmed this address")])


class LastAdmin(Conflict):
    """Without another active platform_admin no user could appoint staff."""

    detail = "This is the last platform_admin who is not suspended."


class NoLongerAdmin(Conflict):
    """The caller lost the role or was suspended while the request was processed."""

    detail = "You are suspended or no longer platform_admin, so you cannot decide."


class ConflictingRoles(Conflict):
    """Maker and checker exclude each other, and platform_admin excludes roles that move money (contract section 5)."""

    def __init__(self, held: str, requested: str) -> None:
        super().__init__(f"A {held} cannot also be {requested}. Revoke the other role first.")


class AppointedElsewhere(Conflict):
    """A user has appointments at one campus, and each role once."""

    def __init__(self, role: str) -> None:
        super().__init__(f"This user is {role} at another campus or hub. Revoke that role first.")


class SuspendedGrantee(Conflict):
    detail = "This user is suspended. Reinstate them first."


class GranteeWithoutSecondFactor(Conflict):
    detail = "The role requires a second factor, and this user has none. They must enrol one first."


class CommissionChangeOpen(Conflict):
    detail = "Another commission change of this vendor is pending. Approve or reject it first."


class GranteeEmailNotConfirmed(Conflict):
    detail = "Staff roles require a confirmed mail address, and this user's is not. They must confirm it first."


class ApplicantEmailNotConfirmed(Conflict):
    detail = "The applicant's mail address is not confirmed. They must confirm it first."


class CommissionChangeOutdated(Conflict):
    detail = "The vendor's commission has changed since this change was prepared. Reject it and prepare a new one."


class UnknownHub(ValidationFailed):
    """The hub does not exist, is closed, or is not of the named campus."""

    detail = "There is no such hub."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("hubId", "there is no such hub at that campus")])


class CannotAppoint(Exception):
    """The user named by the operator cannot become platform_admin."""


class InvalidAbsence(ValidationFailed):
    detail = "The absence ends in the past, or too late. Send another end."

    def __init__(self, days_max: int) -> None:
        reason = f"must be in the future, and at most {days_max} days from now"
        super().__init__(invalid_params=[InvalidParam("away.until", reason)])


class TooManyApiKeys(Conflict):
    """The shop or the platform has as many live API keys as one may have."""

    detail = "There are 20 live API keys. Revoke one that no program uses, then create the new one."


class TooManySavedViews(Conflict):
    detail = f"You have {VIEWS_MAX} saved views. Delete one that you do not use, then save the new one."


class DuplicateViewName(Conflict):
    detail = "You have a saved view of this name for the same list. Choose another name, or delete the other view."
