"""The response of a passkey, as `passkey.js` writes it into the form."""

from typing import Any

import msgspec

from console.visit import InvalidField


class _Passkey(msgspec.Struct, rename="camel"):
    challenge_id: str
    credential: dict[str, Any]


def read_passkey(text: str) -> tuple[str, dict[str, Any]]:
    """Return the challenge's id and the credential. Raises InvalidField."""
    try:
        passkey = msgspec.json.decode(text, type=_Passkey)
    except msgspec.MsgspecError:
        raise InvalidField("code", "the passkey's response cannot be read; try again") from None
    return passkey.challenge_id, passkey.credential
