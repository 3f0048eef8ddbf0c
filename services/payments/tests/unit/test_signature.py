import hashlib
import hmac

import pytest

from payments.domain.signature import signed_by

RAW = b'{"event":"charge.success"}'
CURRENT, PREVIOUS = "sk_current", "sk_previous"


def _sign(secret: str, raw: bytes = RAW) -> str:
    return hmac.new(secret.encode(), raw, hashlib.sha512).hexdigest()


@pytest.mark.parametrize(("secret", "place"), [(CURRENT, 0), (PREVIOUS, 1)])
def test_both_secrets_of_a_rotation_sign_and_it_is_known_which(secret: str, place: int) -> None:
    assert signed_by(RAW, _sign(secret), (CURRENT, PREVIOUS)) == place


@pytest.mark.parametrize(
    "offered",
    [
        None,
        "",
        _sign(CURRENT).upper(),
        _sign(CURRENT)[:-1],
        _sign(CURRENT) + "0",
        _sign(CURRENT) + "\n",
        " " + _sign(CURRENT)[1:],
        "g" + _sign(CURRENT)[1:],
        "\u0661" + _sign(CURRENT)[1:],
        "0" * 128,
        _sign("sk_other"),
        _sign(""),
        _sign(CURRENT, RAW + b" "),
        "sha512=" + _sign(CURRENT),
        hmac.new(CURRENT.encode(), RAW, hashlib.sha256).hexdigest() * 2,
    ],
)
def test_every_other_form_is_rejected(offered: str | None) -> None:
    assert signed_by(RAW, offered, (CURRENT, PREVIOUS)) is None


def test_without_a_secret_nothing_is_signed() -> None:
    assert signed_by(RAW, _sign(""), ()) is None
