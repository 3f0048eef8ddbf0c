"""Links that switch optional mails off without a sign-in (RFC 2369, RFC 8058).

The link contains the encrypted user id: it cannot be guessed or made for another user. Its only effect is the
preference `optionalMail: false`, which the user sees and changes in the app.
"""

from typing import Final
from urllib.parse import quote
from uuid import UUID

from common.primitives.encryption import DecryptionFailed, Encryptor

_CONTEXT: Final = "unsubscribe from mail"
TOKEN_CHARACTERS_MAX: Final = 300


class UnsubscribeLinks:
    """Make and read the links of this deployment. `address` is that of the page."""

    def __init__(self, encryptor: Encryptor, address: str) -> None:
        self._encryptor, self._address = encryptor, address

    def link_of(self, user_id: UUID) -> str:
        return f"{self._address}?token={quote(self._encryptor.encrypt(str(user_id), _CONTEXT), safe='')}"

    def user_of(self, token: str | None) -> UUID | None:
        """Return the user of a link; None for a changed or foreign one."""
        if not token or len(token) > TOKEN_CHARACTERS_MAX or not token.isascii():
            return None
        try:
            return UUID(self._encryptor.decrypt(token, _CONTEXT))
        except (DecryptionFailed, ValueError):
            return None
