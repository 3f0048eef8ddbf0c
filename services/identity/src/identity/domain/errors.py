"""The refusals of this service, named by their condition."""

from datetime import timedelta

from common.primitives.problems import Conflict, Forbidden, InvalidParam, RateLimited, Unauthorized, ValidationFailed


class WrongCredentials(Unauthorized):
    """Address unknown or password wrong: the answer does not tell which (contract section 10)."""

    detail = "The address or the password is wrong."


class ConfirmationRequired(Forbidden):
    """The mail address of the account is not proven yet: clients ask for the code (contract section 10.1)."""

    detail = "Confirm your mail address first: we have sent a code to it."

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, extensions={"confirmationRequired": True})


class EmailNotConfirmed(ConfirmationRequired):
    """A person who signs in elsewhere, whose issuer or create-user has not said that the address is proven."""

    detail = "Confirm your mail address first, where you sign in. Then try again."


class SessionInvalid(Unauthorized):
    """The refresh token is unknown, used, or of an ended session; or the session is not one of ours."""

    detail = "The session has ended. Sign in again."


class WrongCode(ValidationFailed):
    """The one-time code is wrong, was used before, or belongs to no factor of the caller."""

    detail = "The code is wrong or was used before."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("code", "is wrong or was used before")])


class WrongOneTimeCode(ValidationFailed):
    """The code that was sent is wrong, used, expired, or of an address that nobody has: the answer does not tell which."""

    detail = "The code is wrong, was used before, or is too old."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("code", "is wrong, was used before, or is too old")])


class WrongResetToken(ValidationFailed):
    """The token of a password reset is wrong, used or expired."""

    detail = "The token is wrong, was used before, or is too old."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("token", "is wrong, was used before, or is too old")])


class WrongCurrentPassword(ValidationFailed):
    """Whoever changes a password must know the present one; 401 would make clients refresh a token that is good."""

    detail = "The current password is wrong."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("currentPassword", "is wrong")])


class TooManyWrongCodes(RateLimited):
    """Five wrong codes in a row make the next one wait."""

    detail = "Too many wrong codes. Wait and try again."

    def __init__(self, wait: timedelta) -> None:
        super().__init__(headers={"Retry-After": str(max(1, -(-int(wait.total_seconds() * 1000) // 1000)))})


class TooManyFactors(Conflict):
    """Ten of a kind are enough for one person (README)."""

    detail = "You have as many of these as one person may have. Remove one first."


class SecondFactorMissing(Conflict):
    """Recovery codes stand in for a second factor, and an assertion needs a passkey: there is none."""

    detail = "You have no second factor of this kind yet."


class LastFactorOfStaff(Conflict):
    """Staff keep a second factor: without one they could not do what they were appointed for."""

    detail = "This is your only second factor, and staff need one. Add another first."


class FactorIdWithRecoveryCode(ValidationFailed):
    """A recovery code came together with the id of a factor."""

    detail = "A recovery code belongs to no factor."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("factorId", "must be absent beside a recovery code")])


class ChallengeInvalid(ValidationFailed):
    """The challenge is unknown, used, too old, or of another person, session or purpose."""

    detail = "The challenge was used, is too old, or is not yours. Ask for options again."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("challengeId", "was used, is too old, or is not yours")])


class PasskeyRejected(ValidationFailed):
    """What the authenticator said does not hold; the answer does not tell which check it failed."""

    detail = "The passkey's answer does not hold for this challenge on this site."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("credential", "does not hold for this challenge on this site")])


class KeysStillInUse(Exception):
    """Tokens that the previous signing keys signed may still live."""


class UnknownKey(Exception):
    """No signing key of ours has this `kid`."""


class ProfileMissing(Forbidden):
    """A good token of a user for whom create-user was never called (contract section 5.2)."""

    detail = "There is no profile for this user yet."


class AnotherCampus(Forbidden):
    """What everybody may read, only the staff of its campus may change."""

    detail = "This belongs to another campus than yours."


class DomainInUse(Conflict):
    detail = "Another campus has this mail domain."


class UnknownCampus(ValidationFailed):
    """Absent, or closed."""

    detail = "There is no such campus."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("campusId", "there is no such campus")])


class CampusClosed(Conflict):
    detail = "The campus of this application is closed. Open it again first, or reject the application."


class ApplicationOpen(Conflict):
    """One open application for each person."""

    detail = "You have an application that is not decided yet."


class VendorOwned(Conflict):
    """One vendor for each person."""

    detail = "This person owns a vendor already."


class OwnApplication(Forbidden):
    detail = "Nobody decides on their own application."


class OwnVendor(Forbidden):
    detail = "Nobody decides on their own vendor."


class ApplicationDecidedOtherwise(Conflict):
    def __init__(self, status: str) -> None:
        super().__init__(f"The application was {status} before.")


class ConcurrentProvisioning(Conflict):
    """Something that does not provision (the demo data) made a profile of this id at this very moment."""

    detail = "The profile is being made by somebody else. Try again."


class WrongPassword(ValidationFailed):
    """Whoever erases themselves must know their password; 401 would make clients refresh a token that is good."""

    detail = "The password is wrong."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("password", "is wrong")])


class OpenObligations(Conflict):
    """Others rely on this person: the office they hold, or staff who look into their vendor."""

    def __init__(self, *, is_staff: bool) -> None:
        reason = "you hold a role of staff" if is_staff else "your vendor is suspended"
        super().__init__(f"Your account cannot be erased while {reason}.")


class VendorIsClosed(Conflict):
    """The owner was erased, and nothing of the vendor is anybody's to change."""

    detail = "This vendor is closed for good."


class UserSuspended(WrongCredentials):
    """Whoever is suspended is given no tokens; the answer is that of a wrong password."""


class OwnGrant(Forbidden):
    detail = "Nobody gives a role to themselves."


class OwnAppointment(Forbidden):
    detail = "Nobody suspends themselves or takes a role from themselves."


class LastAdmin(Conflict):
    """Nobody would be left to appoint anybody."""

    detail = "This is the last platform_admin who is not suspended."


class NoLongerAdmin(Conflict):
    """The caller's own right to decide was taken away while the request was on its way."""

    detail = "You were suspended, or are no longer platform_admin."


class ConflictingRoles(Conflict):
    """Maker and checker, and platform_admin and a role that moves money, are never one person (contract section 5)."""

    def __init__(self, held: str, wanted: str) -> None:
        super().__init__(f"Whoever is {held} cannot be {wanted}. Revoke the other role first.")


class AppointedElsewhere(Conflict):
    """One person has the offices of one campus, and each role once."""

    def __init__(self, role: str) -> None:
        super().__init__(f"This person is {role} at another campus or hub. Revoke that role first.")


class SuspendedGrantee(Conflict):
    detail = "This person is suspended. Reinstate them first."


class GranteeWithoutSecondFactor(Conflict):
    detail = "This person has no second factor yet, which the role cannot be used without."


class CommissionChangeOpen(Conflict):
    detail = "Another commission change of this vendor waits for its decision. It is approved or rejected first."


class GranteeEmailNotConfirmed(Conflict):
    detail = "This person has not proven their mail address yet. Staff roles need a proven one."


class ApplicantEmailNotConfirmed(Conflict):
    detail = "The applicant has not proven their mail address yet."


class CommissionChangeOutdated(Conflict):
    detail = "The vendor's commission is no longer the one that this change starts from. Reject it and prepare it anew."


class UnknownHub(ValidationFailed):
    """Absent, or closed, or not of the campus that was named."""

    detail = "There is no such hub."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("hubId", "there is no such hub at that campus")])


class CannotAppoint(Exception):
    """The person that an operator named cannot be made platform_admin."""
