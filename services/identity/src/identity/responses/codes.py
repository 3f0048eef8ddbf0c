"""Response models of one-time codes and passwords."""

from common.web.response_models import ResponseModel


class SentCode(ResponseModel):
    """Identical for every address. `expiresIn` is in seconds."""

    expires_in: int


class PasswordReset(ResponseModel):
    """All sessions have ended; the user signs in with the new password."""

    sessions_ended: int


class PasswordChanged(ResponseModel):
    """All other sessions have ended."""

    sessions_ended: int
