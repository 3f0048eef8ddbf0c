"""The list of trusted issuers: faults that stop the start, hidden secrets, key algorithms."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm
from pydantic import ValidationError

from common.auth.issuers import federated_identity_of
from common.auth.verification_keys import public_keys_of
from common.process.settings import ServiceSettings

from .forging import (
    OUR_ISSUER,
    clock_of_now,
    without,
)
from .issuer_steps import SECRET, SETTINGS, THEIRS, club, of_club, school, settings_with

BAD: dict[str, tuple[str, str]] = {
    "no JSON": ("[", "must be a JSON list"),
    "no list": ('{"issuer": "x"}', "must be a JSON list"),
    "no object": ('["x"]', "valid dictionary"),
    "no keys": (json.dumps([without(school(), "jwksUrl")]), "exactly one of jwksUrl and secret"),
    "both kinds of keys": (json.dumps([school(secret=SECRET)]), "exactly one of jwksUrl and secret"),
    "no algorithms": (json.dumps([school(algorithms=[])]), "at least one algorithm"),
    "algorithms missing": (json.dumps([without(school(), "algorithms")]), "Field required"),
    "the algorithm none": (json.dumps([school(algorithms=["none"])]), "not supported: none"),
    "mixed algorithms": (json.dumps([school(algorithms=["ES256", "HS256"])]), "must not mix"),
    "HS256 by address": (json.dumps([school(algorithms=["HS256"])]), "only"),
    "RS256 by secret": (json.dumps([club(algorithms=["RS256"])]), "only"),
    "a short secret": (json.dumps([club(secret="x" * 31)]), "at least 32 bytes"),
    "a short secret for HS512": (json.dumps([club(algorithms=["HS512"])]), "at least 64 bytes"),
    "two primaries": (json.dumps([school(), club(primary=True)]), "at most one issuer can be primary"),
    "our own issuer": (json.dumps([school(issuer=OUR_ISSUER)]), "our own issuer"),
    "our own issuer with a slash": (json.dumps([school(issuer=f"{OUR_ISSUER}/")]), "our own issuer"),
    "one issuer twice": (json.dumps([school(), school(primary=False)]), "listed once"),
    "http elsewhere": (json.dumps([school(jwksUrl="http://login.school.example/keys")]), "https"),
    "http by a look-alike": (json.dumps([school(jwksUrl="http://localhost.school.example/keys")]), "https"),
    "http by a user name": (json.dumps([school(jwksUrl="http://localhost@school.example/keys")]), "https"),
    "a file": (json.dumps([school(jwksUrl="file:///etc/passwd")]), "https"),
    "no address": (json.dumps([school(jwksUrl="keys")]), "https"),
    "no audience": (json.dumps([school(audience=[])]), "must name an audience"),
    "an empty audience": (json.dumps([school(audience="")]), "must name an audience"),
    "an empty issuer": (json.dumps([school(issuer="")]), "at least 1 character"),
    "a word that nobody knows": (json.dumps([school(trusted=True)]), "not permitted"),
    "an empty claim": (json.dumps([school(claims={"sub": ""})]), "name of a claim"),
    "an empty claim of the proof": (json.dumps([school(emailVerifiedClaim="")]), "name of a claim"),
}


@pytest.mark.parametrize("fault", BAD)
def test_an_invalid_list_of_issuers_stops_the_start(
    fault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, reason = BAD[fault]
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name.upper(), str(value))
    monkeypatch.setenv("TRUSTED_ISSUERS", text)
    with pytest.raises(SystemExit) as ended:
        ServiceSettings.from_environment()
    claims_sent = capsys.readouterr().err
    assert ended.value.code == 78
    assert "TRUSTED_ISSUERS" in claims_sent
    assert reason in claims_sent
    assert SECRET not in claims_sent


def test_the_representation_of_an_issuer_hides_its_secret() -> None:
    settings = settings_with(json.dumps([club()]))
    assert SECRET not in repr(settings)
    with pytest.raises(ValidationError) as raised:
        settings_with(json.dumps([club(algorithms=[])]))
    assert SECRET not in str(raised.value)


def test_trusted_issuers_are_empty_by_default() -> None:
    for text in ("", "[]"):
        assert settings_with(text or "[]").trusted_issuers == ()
    assert settings_with("[]").identity_address == "http://identity:1"
    claims_sent = ServiceSettings(**SETTINGS, identity_url="http://elsewhere:2")  # type: ignore[arg-type]
    assert claims_sent.identity_address == "http://elsewhere:2"


def test_a_published_key_is_used_with_fitting_algorithms_only() -> None:
    weak = rsa.generate_private_key(65537, 1024).public_key()
    entries = {entry["kid"]: entry for entry in THEIRS.jwks()["keys"] if isinstance(entry, dict)}
    uses: dict[str, tuple[Any, set[str]]] = {
        "its own algorithm": (entries["ec"], {"ES256"}),
        "no algorithm named": (without(entries["rsa"], "alg"), {"RS256", "PS256"}),
        "an algorithm of another kind": ({**entries["ec"], "alg": "RS256"}, set()),
        "another curve": ({**entries["ec"], "crv": "P-384", "alg": "ES384"}, set()),
        "an algorithm that is not trusted": ({**entries["rsa"], "alg": "RS512"}, set()),
        "a point off the curve": ({**entries["ec"], "y": entries["ec"]["x"]}, set()),
        "for encryption": ({**entries["ec"], "use": "enc"}, set()),
        "a secret": (entries["oct"], set()),
        "a weak key": ({**RSAAlgorithm.to_jwk(weak, as_dict=True), "kid": "weak", "alg": "RS256"}, set()),
        "no name": (without(entries["ec"], "kid"), set()),
        "a name that is no text": ({**entries["ec"], "kid": 1}, set()),
        "nothing": (None, set()),
    }
    for case, (entry, algorithms) in uses.items():
        assert (case, set(public_keys_of(entry, ["EdDSA", "ES256", "ES384", "RS256", "PS256"]))) == (case, algorithms)


@pytest.mark.parametrize(
    ("named", "claims", "proven"),
    [
        ({}, {"email_verified": True}, True),
        ({}, {"email_verified": "yes"}, False),
        ({}, {}, False),
        ({"emailVerifiedClaim": "https://club.example/proven"}, {"https://club.example/proven": True}, True),
        ({"emailVerifiedClaim": "https://club.example/proven"}, {"email_verified": True}, False),
        ({"emailVerifiedClaim": ["user", "verified"]}, {"user": {"verified": True}}, True),
    ],
)
def test_the_issuer_s_own_claim_confirms_the_mail_address(
    named: dict[str, Any], claims: dict[str, Any], proven: bool
) -> None:
    [issuer] = settings_with(json.dumps([club(**named)])).trusted_issuers
    assert federated_identity_of(of_club(**claims), issuer, clock_of_now().now()).email_verified is proven
