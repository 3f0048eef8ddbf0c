"""The refusals of this service, named by their condition."""

from datetime import timedelta

from common.problems import Forbidden, InvalidParam, RateLimited, Unauthorized, ValidationFailed


class WrongCredentials(Unauthorized):
    """Address unknown or password wrong: the answer does not tell which (contract section 10)."""

    detail = "The address or the password is wrong."


class SessionNotHeld(Unauthorized):
    """The refresh token is unknown, used, or of an ended session; or the session is not one of ours."""

    detail = "The session has ended. Sign in again."


class WrongCode(ValidationFailed):
    """The one-time code is wrong, was used before, or belongs to no factor of the caller."""

    detail = "The code is wrong or was used before."

    def __init__(self) -> None:
        super().__init__(invalid_params=[InvalidParam("code", "is wrong or was used before")])


class TooManyWrongCodes(RateLimited):
    """Five wrong codes in a row make the next one wait."""

    detail = "Too many wrong codes. Wait and try again."

    def __init__(self, wait: timedelta) -> None:
        super().__init__(headers={"Retry-After": str(max(1, -(-int(wait.total_seconds() * 1000) // 1000)))})


class ProfileMissing(Forbidden):
    """A good token of a user for whom create-user was never called (contract section 15.5)."""

    detail = "There is no profile for this user yet."
