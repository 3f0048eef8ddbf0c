"""The account or session that the body of a sign-up, sign-in or refresh names."""

import hashlib

import msgspec

from common.primitives.phone_numbers import phone_number_or_none


class _Credentials(msgspec.Struct, rename="camel"):
    # A client may send null for one of the two.
    email: str | None = None
    phone: str | None = None
    token: str = ""
    refresh_token: str = ""


_decode_credentials = msgspec.json.Decoder(_Credentials).decode


def account_named_in(body: bytes) -> str:
    """Return the hash of the account that a body names, so that the quota store holds no personal data; empty without
    one.

    A password reset names it by its token. A number that identity rejects names none.
    """
    credentials = _credentials_in(body)
    phone = phone_number_or_none(credentials.phone or "")
    named = _mailbox((credentials.email or "").strip().lower()) or phone or credentials.token
    return _hashed(named)


def _mailbox(email: str) -> str:
    """Return the address without a tag: a mailbox counts once whatever follows `+`."""
    local, at, domain = email.rpartition("@")
    return f"{local.partition('+')[0] or local}@{domain}" if at else email


def session_named_in(body: bytes) -> str:
    """Return the hash of the session of a refresh token, `<session>.<secret>`. The session stays when the token
    rotates.
    """
    return _hashed(_credentials_in(body).refresh_token.partition(".")[0].lower())


def address_named_in(body: bytes) -> str:
    """Return the mail address that a body names; empty without one."""
    return _credentials_in(body).email or ""


def _credentials_in(body: bytes) -> _Credentials:
    try:
        return _decode_credentials(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # Nesting beyond the decoder's limit is not an error here: the service rejects it.
        return _Credentials()


def _hashed(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:32] if name else ""
