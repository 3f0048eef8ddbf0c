import base64
import hashlib
import hmac

import pytest

from payments.domain.signature import flutterwave_hash_of, signed_by

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


HASHES = ("hash-current", "hash-previous")


def _flutterwave_signature(secret: str, raw: bytes = RAW) -> str:
    return base64.b64encode(hmac.new(secret.encode(), raw, hashlib.sha256).digest()).decode()


@pytest.mark.parametrize(("secret", "place"), [("hash-current", 0), ("hash-previous", 1), ("hash-other", None)])
def test_flutterwave_names_its_hash_or_signs_with_it(secret: str, place: int | None) -> None:
    assert flutterwave_hash_of(RAW, secret, None, HASHES) == place
    assert flutterwave_hash_of(RAW, None, _flutterwave_signature(secret), HASHES) == place


@pytest.mark.parametrize(
    "signature", ["", "hash-current", _flutterwave_signature("hash-current", RAW + b" "), _sign("hash-current")]
)
def test_a_wrong_signature_is_not_excused_by_the_right_hash(signature: str) -> None:
    assert flutterwave_hash_of(RAW, "hash-current", signature, HASHES) is None


def test_a_right_signature_needs_no_hash() -> None:
    assert flutterwave_hash_of(RAW, "hash-other", _flutterwave_signature("hash-current"), HASHES) == 0


@pytest.mark.parametrize("verif_hash", [None, "", "hash-curren", "hash-current ", "hash-curr\u00e9nt"])
def test_a_flutterwave_webhook_without_the_whole_hash_is_rejected(verif_hash: str | None) -> None:
    assert flutterwave_hash_of(RAW, verif_hash, None, HASHES) is None


def test_without_a_hash_no_flutterwave_webhook_is_accepted() -> None:
    assert flutterwave_hash_of(RAW, "", None, ()) is None
    assert flutterwave_hash_of(RAW, None, _flutterwave_signature(""), ()) is None
