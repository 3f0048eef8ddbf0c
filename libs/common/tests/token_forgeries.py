"""Forged and malformed tokens, by the fault that each one has."""

import base64
import json
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .forging import (
    OUR_ISSUER,
    SECONDS,
    SESSION,
    USER,
    Keys,
    encoded,
    mac,
    our_claims,
    part,
    token_of,
    without,
)

KEYS = Keys()
ED = {"alg": "EdDSA", "kid": "ed", "typ": "JWT"}
EC = {"alg": "ES256", "kid": "ec", "typ": "JWT"}
# The order of the group of Ed25519: S + L verifies like S where its size is not checked.
L = 2**252 + 27742317777372353535851937790883648493


def ed(header: Any = ED, claims: Any = None, **changed: Any) -> str:
    """Signed with our own key, whatever its claims."""
    return token_of(header, our_claims(**changed) if claims is None else claims, KEYS.ed.sign)


def es(header: Any = EC, claims: Any = None) -> str:
    return token_of(header, our_claims() if claims is None else claims, KEYS.sign_ec)


def signed_as(header: Any, sign: Callable[[bytes], bytes]) -> str:
    return token_of(header, our_claims(), sign)


def flipped(token: str) -> str:
    """Return the same last segment with bits set that decode to nothing."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return token[:-1] + alphabet[alphabet.index(token[-1]) + 1]


def resigned_scalar(token: str) -> str:
    head, claims, signature = token.split(".")
    raw = base64.urlsafe_b64decode(signature + "==")
    scalar = int.from_bytes(raw[32:], "little") + L
    return f"{head}.{claims}.{encoded(raw[:32] + scalar.to_bytes(32, 'little'))}"


def general_serialization() -> str:
    head, claims, signature = ed().split(".")
    return json.dumps({"payload": claims, "signatures": [{"protected": head, "signature": signature}]})


def flattened_serialization() -> str:
    head, claims, signature = ed().split(".")
    return json.dumps({"protected": head, "payload": claims, "signature": signature})


def raw_claims(members: str) -> str:
    """Claims written by hand: `members` follow the valid ones."""
    return ed(claims=json.dumps(our_claims())[:-1] + f", {members}}}")


def changed_claim(name: str, written: str) -> str:
    """One claim in a spelling that no encoder writes."""
    return ed(claims=json.dumps(without(our_claims(), name))[:-1] + f', "{name}": {written}}}')


def metadata(**changed: Any) -> str:
    return ed(app_metadata={"roles": ["buyer"], "vendor_id": None, "campus_id": None, **changed})


PUBLIC_PEM = KEYS.p256.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
PUBLIC_DER = KEYS.p256.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
PUBLIC_RAW = KEYS.ed.public_key().public_bytes_raw()
PUBLIC_JWK = KEYS.jwks()["keys"][0]
FOREIGN_KEY = Ed25519PrivateKey.generate()
FOREIGN_JWK = {
    "kty": "OKP",
    "crv": "Ed25519",
    "kid": "theirs",
    "x": encoded(FOREIGN_KEY.public_key().public_bytes_raw()),
}
CANARY = "http://127.0.0.1:9/keys"
DEEP = "[" * 2_500 + "]" * 2_500
FORMS: dict[str, Callable[[], str]] = {
    # Algorithms
    **{
        f"alg {name!r} without a signature": lambda name=name: f"{part({**ED, 'alg': name})}.{part(our_claims())}."
        for name in ("none", "None", "NONE", "nOnE", "")
    },
    "alg none with our signature": lambda: ed({**ED, "alg": "none"}),
    "alg null": lambda: ed({**ED, "alg": None}),
    "alg as a list": lambda: ed({**ED, "alg": ["EdDSA"]}),
    "alg as a number": lambda: ed({**ED, "alg": 1}),
    "alg missing": lambda: ed(without(ED, "alg")),
    "alg in other case": lambda: ed({**ED, "alg": "eddsa"}),
    "alg with a blank": lambda: ed({**ED, "alg": "EdDSA "}),
    "HS256 with the public key as PEM": lambda: signed_as({**EC, "alg": "HS256"}, mac(PUBLIC_PEM)),
    "HS256 with the public key as PEM, stripped": lambda: signed_as({**EC, "alg": "HS256"}, mac(PUBLIC_PEM.strip())),
    "HS256 with the public key as DER": lambda: signed_as({**EC, "alg": "HS256"}, mac(PUBLIC_DER)),
    "HS256 with the raw public key": lambda: signed_as({**ED, "alg": "HS256"}, mac(PUBLIC_RAW)),
    "HS256 with the JWK": lambda: signed_as({**ED, "alg": "HS256"}, mac(json.dumps(PUBLIC_JWK).encode())),
    "HS256 with the JWK's x": lambda: signed_as({**ED, "alg": "HS256"}, mac(PUBLIC_JWK["x"].encode())),
    "HS256 with an empty secret": lambda: signed_as({**ED, "alg": "HS256"}, mac(b"")),
    "HS384 with the raw public key": lambda: signed_as({**ED, "alg": "HS384"}, mac(PUBLIC_RAW, "sha384")),
    "HS512 with the raw public key": lambda: signed_as({**ED, "alg": "HS512"}, mac(PUBLIC_RAW, "sha512")),
    "HS256 with a secret that was published by mistake": lambda: signed_as(
        {"alg": "HS256", "kid": "oct"}, mac(b"x" * 32)
    ),
    "RS256, which is not ours, with a published key": lambda: signed_as({"alg": "RS256", "kid": "rsa"}, KEYS.sign_rsa),
    "ES256 named over an Ed25519 signature": lambda: ed({**ED, "alg": "ES256"}),
    "EdDSA named over an ES256 signature": lambda: es({**EC, "alg": "EdDSA"}),
    "ES384 named over an ES256 key": lambda: es({**EC, "alg": "ES384"}),
    # Signatures
    "no signature": lambda: token_of(ED, our_claims(), lambda _: b""),
    "signature of zeros, EdDSA": lambda: signed_as(ED, lambda _: bytes(64)),
    "signature of zeros, ES256": lambda: signed_as(EC, lambda _: bytes(64)),
    "r = 0": lambda: signed_as(EC, lambda signed: bytes(32) + KEYS.sign_ec(signed)[32:]),
    "s = 0": lambda: signed_as(EC, lambda signed: KEYS.sign_ec(signed)[:32] + bytes(32)),
    "r and s of all ones": lambda: signed_as(EC, lambda _: b"\xff" * 64),
    "DER instead of r and s": lambda: signed_as(EC, KEYS.sign_ec_der),
    "a signature too short": lambda: signed_as(ED, lambda signed: KEYS.ed.sign(signed)[:-1]),
    "a signature too long": lambda: signed_as(ED, lambda signed: KEYS.ed.sign(signed) + b"\x00"),
    "r and s with a byte more": lambda: signed_as(EC, lambda signed: KEYS.sign_ec(signed) + b"\x00"),
    "S + L instead of S": lambda: resigned_scalar(ed()),
    "a stranger's signature": lambda: signed_as(ED, FOREIGN_KEY.sign),
    "the signature of another token": lambda: ".".join([*ed(sub=SESSION).split(".")[:2], ed().split(".")[2]]),
    "changed claims": lambda: ".".join([ed().split(".")[0], part(our_claims(role="auditor")), ed().split(".")[2]]),
    "changed header": lambda: ".".join([part({**ED, "x": 1}), *ed().split(".")[1:]]),
    # Key ids
    "kid of another key": lambda: ed({**ED, "kid": "ed2"}),
    "kid of a key of another kind": lambda: ed({**ED, "kid": "ec"}),
    "kid of a key for encryption": lambda: ed({**ED, "kid": "enc"}),
    "kid of a broken key": lambda: ed({**ED, "kid": "broken"}),
    "kid missing": lambda: ed(without(ED, "kid")),
    "kid empty": lambda: ed({**ED, "kid": ""}),
    "kid null": lambda: ed({**ED, "kid": None}),
    "kid as a number": lambda: ed({**ED, "kid": 0}),
    "kid as a list": lambda: ed({**ED, "kid": ["ed"]}),
    "kid as an object": lambda: ed({**ED, "kid": {"ed": 1}}),
    "kid true": lambda: ed({**ED, "kid": True}),
    "kid as a path": lambda: signed_as({**ED, "alg": "HS256", "kid": "../../../../dev/null"}, mac(b"")),
    "kid as SQL": lambda: signed_as({**ED, "kid": "x' UNION SELECT 'key' --"}, FOREIGN_KEY.sign),
    "kid as an address": lambda: signed_as({**ED, "kid": CANARY}, FOREIGN_KEY.sign),
    "kid with a NUL": lambda: ed({**ED, "kid": "ed\x00"}),
    "kid with a lone surrogate": lambda: ed({**ED, "kid": "\ud800"}),
    "kid of four thousand characters": lambda: ed({**ED, "kid": "k" * 4_000}),
    # Headers that contain keys or require support
    "jwk of a stranger": lambda: signed_as({**ED, "kid": "theirs", "jwk": FOREIGN_JWK}, FOREIGN_KEY.sign),
    "jwk of a stranger under our kid": lambda: signed_as({**ED, "jwk": FOREIGN_JWK}, FOREIGN_KEY.sign),
    "jku of a stranger": lambda: signed_as({**ED, "jku": CANARY}, FOREIGN_KEY.sign),
    "jku beside our signature": lambda: ed({**ED, "jku": CANARY}),
    "x5u of a stranger": lambda: signed_as({**ED, "x5u": CANARY}, FOREIGN_KEY.sign),
    "x5c of a stranger": lambda: signed_as({**ED, "x5c": ["MIIB"]}, FOREIGN_KEY.sign),
    "crit with an unknown name": lambda: ed({**ED, "crit": ["urn:x"], "urn:x": True}),
    "crit with a known name": lambda: ed({**ED, "crit": ["exp"], "exp": SECONDS + 900}),
    "crit empty": lambda: ed({**ED, "crit": []}),
    "crit null": lambda: ed({**ED, "crit": None}),
    "b64 false": lambda: ed({**ED, "b64": False, "crit": ["b64"]}),
    "b64 true": lambda: ed({**ED, "b64": True, "crit": ["b64"]}),
    "b64 false, its claims bare": lambda: (
        f"{part({**ED, 'b64': False, 'crit': ['b64']})}.{json.dumps(our_claims())}.{encoded(bytes(64))}"
    ),
    "a token within a token": lambda: ed({**ED, "cty": "JWT"}, claims=ed()),
    "cty JWT over claims": lambda: ed({**ED, "cty": "JWT"}),
    "compressed claims": lambda: ed({**ED, "zip": "DEF"}),
    "typ of a logout token": lambda: ed({**ED, "typ": "logout+jwt"}),
    "typ of a security event": lambda: ed({**ED, "typ": "secevent+jwt"}),
    "typ JWE": lambda: ed({**ED, "typ": "JWE"}),
    "typ as a list": lambda: ed({**ED, "typ": ["JWT"]}),
    "typ null": lambda: ed({**ED, "typ": None}),
    # Forms
    "encrypted, five parts": lambda: ".".join([part({"alg": "dir", "enc": "A256GCM"}), "", "aaaa", "aaaa", "aaaa"]),
    "five parts of ours": lambda: f"{ed()}.aaaa.aaaa",
    "four parts": lambda: f"{ed()}.aaaa",
    "two parts": lambda: ".".join(ed().split(".")[:2]),
    "one part": lambda: ed().split(".", maxsplit=1)[0],
    "a dot at the end": lambda: f"{ed()}.",
    "a dot at the beginning": lambda: f".{ed()}",
    "dots alone": lambda: "..",
    "flattened JSON serialization": flattened_serialization,
    "general JSON serialization": general_serialization,
    "a tab within": lambda: ed().replace(".", ".\t", 1),
    "bits that decode to nothing": lambda: flipped(ed()),
    "padding": lambda: f"{ed()}==",
    "padding in the header": lambda: "==.".join(ed().split(".", 1)),
    "the other base64 alphabet": lambda: f"{part(ED)}.{part(our_claims())}.{'+/' * 43}",
    "one character over": lambda: f"{ed()}A",
    "letters of another script": lambda: ed().replace("e", "\u0435", 1),
    "header no JSON": lambda: ed("{"),
    "header a list": lambda: ed(["EdDSA"]),
    "header a text": lambda: ed('"EdDSA"'),
    "header empty": lambda: f".{part(our_claims())}.{encoded(bytes(64))}",
    "header no UTF-8": lambda: ed(b'{"alg":"EdDSA","kid":"ed","x":"\xff"}'),
    "header with a byte order mark": lambda: ed(b"\xef\xbb\xbf" + json.dumps(ED).encode()),
    "header in UTF-16": lambda: ed(json.dumps(ED).encode("utf-16")),
    "header of seven thousand characters": lambda: ed({**ED, "x": "x" * 7_000}),
    "header nested deeply": lambda: ed('{"alg":"EdDSA","kid":"ed","x":' + DEEP + "}"),
    "a hundred kilobytes": lambda: ed(x="x" * 100_000),
    "two algs": lambda: ed('{"alg":"none","kid":"ed","alg":"EdDSA"}'),
    "two kids": lambda: ed('{"alg":"EdDSA","kid":"ed2","kid":"ed"}'),
    "claims no JSON": lambda: ed(claims="{'sub': 1}"),
    "claims a list": lambda: ed(claims=[our_claims()]),
    "claims a number": lambda: ed(claims="1"),
    "claims null": lambda: ed(claims="null"),
    "claims no UTF-8": lambda: ed(claims=b'{"sub":"\xff\xfe"}'),
    "claims nested deeply": lambda: ed(claims='{"sub":' + DEEP + "}"),
    "claims with a comma too many": lambda: raw_claims(""),
    "two subjects": lambda: raw_claims(f'"sub": "{SESSION}"'),
    "two audiences as members": lambda: raw_claims('"aud": "campus-marketplace"'),
    "two roles within": lambda: changed_claim(
        "app_metadata", '{"roles":["buyer"],"vendor_id":null,"campus_id":null,"roles":["auditor"]}'
    ),
    "two subjects, one escaped": lambda: raw_claims(f'"\\u0073ub": "{SESSION}"'),
    # Claims
    **{f"no {name}": lambda name=name: ed(claims=without(our_claims(), name)) for name in our_claims()},
    **{f"{name} null": lambda name=name: ed(**{name: None}) for name in our_claims()},
    **{
        f"{name} = {written}": lambda name=name, written=written: changed_claim(name, written)
        for name in ("exp", "iat", "nbf")
        for written in (
            f'"{SECONDS}"',
            "NaN",
            "Infinity",
            "-Infinity",
            "-1",
            "true",
            "1e400",
            "1e30",
            "9" * 500,
            "[]",
            "{}",
        )
    },
    "exp a fraction": lambda: changed_claim("exp", f"{SECONDS + 900}.5"),
    "iat a fraction": lambda: changed_claim("iat", f"{SECONDS}.5"),
    "iat of the future": lambda: ed(iat=SECONDS + 60),
    "nbf of the future": lambda: ed(nbf=SECONDS + 60),
    "nbf null": lambda: ed(nbf=None),
    "aud of another": lambda: ed(aud="another"),
    "aud a beginning of ours": lambda: ed(aud="campus"),
    "aud ours and more": lambda: ed(aud="campus-marketplace-admin"),
    "aud in other case": lambda: ed(aud="Campus-Marketplace"),
    "aud an empty list": lambda: ed(aud=[]),
    "aud a list of others": lambda: ed(aud=["another"]),
    "aud ours among others": lambda: ed(aud=["another", "campus-marketplace"]),
    "aud an object": lambda: ed(aud={"campus-marketplace": True}),
    "iss of another": lambda: ed(iss="http://evil.example"),
    "iss with a slash": lambda: ed(iss=f"{OUR_ISSUER}/"),
    "iss in other case": lambda: ed(iss=OUR_ISSUER.upper()),
    "iss a list": lambda: ed(iss=[OUR_ISSUER]),
    "iss with a blank": lambda: ed(iss=f" {OUR_ISSUER}"),
    "sub no UUID": lambda: ed(sub="root"),
    "sub in braces": lambda: ed(sub=f"{{{USER}}}"),
    "sub as a URN": lambda: ed(sub=f"urn:uuid:{USER}"),
    "sub without dashes": lambda: ed(sub=USER.replace("-", "")),
    "sub with a line break": lambda: ed(sub=f"{USER}\n"),
    "sub a number": lambda: ed(sub=1),
    "sub a list": lambda: ed(sub=[USER]),
    "session_id no UUID": lambda: ed(session_id="abc"),
    "session_id a number": lambda: ed(session_id=7),
    "role unknown": lambda: ed(role="root"),
    "role a list": lambda: ed(role=["buyer"]),
    "aal unknown": lambda: ed(aal="aal3"),
    "aal a number": lambda: ed(aal=2),
    "amr a text": lambda: ed(amr="totp"),
    "amr of texts": lambda: ed(amr=["totp"]),
    "amr without a time": lambda: ed(amr=[{"method": "totp"}]),
    "amr with a bad time": lambda: ed(amr=[{"method": "totp", "timestamp": "now"}]),
    "amr without a method": lambda: ed(amr=[{"timestamp": SECONDS}]),
    "app_metadata a list": lambda: ed(app_metadata=["buyer"]),
    "roles a text": lambda: metadata(roles="platform_admin"),
    "roles null": lambda: metadata(roles=None),
    "roles unknown": lambda: metadata(roles=["root"]),
    "roles of numbers": lambda: metadata(roles=[1]),
    "roles of lists": lambda: metadata(roles=[["auditor"]]),
    "roles an object": lambda: metadata(roles={"auditor": True}),
    "vendor_id no UUID": lambda: metadata(vendor_id="x"),
    "campus_id a number": lambda: metadata(campus_id=1),
    "hub_id no UUID": lambda: metadata(hub_id="x"),
    "packing_vendor_id no UUID": lambda: metadata(packing_vendor_id="x"),
    "no vendor_id": lambda: ed(app_metadata={"roles": ["buyer"], "campus_id": None}),
    "expired, and of another issuer": lambda: ed(iss="x", iat=SECONDS - 9_000, exp=SECONDS - 8_000),
    "expired, and for another audience": lambda: ed(aud="x", iat=SECONDS - 9_000, exp=SECONDS - 8_000),
    "expired, and without roles": lambda: ed(app_metadata={}, iat=SECONDS - 9_000, exp=SECONDS - 8_000),
    "expired, by a stranger": lambda: token_of(
        ED, our_claims(iat=SECONDS - 9_000, exp=SECONDS - 8_000), FOREIGN_KEY.sign
    ),
}
