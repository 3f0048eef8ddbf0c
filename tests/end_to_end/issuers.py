"""Identity providers outside the system: a school with published keys, and a club that shares a secret."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

SCHOOL = "https://login.school.example"
CLUB = "https://club.example"
CLUB_SECRET = "the secret of the club, which is long enough for every hash that it could be used with"


@dataclass
class FurtherIssuers:
    """The keys of both, and tokens of either."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    outsider: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    jwks_url: str = ""

    @property
    def setting(self) -> str:
        """Their entries of TRUSTED_ISSUERS."""
        school = {
            "issuer": SCHOOL,
            "jwksUrl": self.jwks_url,
            "audience": "shop",
            "algorithms": ["ES256"],
            "primary": True,
        }
        club = {"issuer": CLUB, "secret": CLUB_SECRET, "audience": "shop", "algorithms": ["HS256"]}
        return json.dumps([school, {**club, "allowStaffRoles": True}])

    def claims(self, issuer: str, sub: Any, **changed: Any) -> dict[str, Any]:
        now = int(time.time())
        return {
            "iss": issuer,
            "aud": "shop",
            "sub": str(sub),
            "iat": now,
            "exp": now + 600,
            "session_id": "1",
            **changed,
        }

    def school(self, sub: Any, *, key: Any = None, kid: str = "school", **changed: Any) -> str:
        """Return a token of the school; `changed` replaces claims."""
        claims = self.claims(SCHOOL, sub, **changed)
        return jwt.encode(claims, key or self.key, algorithm="ES256", headers={"kid": kid})

    def club(self, sub: Any, *, secret: str = CLUB_SECRET, algorithm: str = "HS256", **changed: Any) -> str:
        """Return a token of the club."""
        return jwt.encode(self.claims(CLUB, sub, **changed), secret, algorithm=algorithm)


@contextmanager
def further_issuers() -> Iterator[FurtherIssuers]:
    """Serve the school's keys while this is open."""
    issuers = FurtherIssuers()
    public = {**ECAlgorithm.to_jwk(issuers.key.public_key(), as_dict=True), "kid": "school", "alg": "ES256"}
    body = json.dumps({"keys": [public]}).encode()

    class KeyPage(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Drop the line: the logs are not read."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), KeyPage)
    issuers.jwks_url = f"http://127.0.0.1:{server.server_port}/keys"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield issuers
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
