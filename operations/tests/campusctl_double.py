"""A small real server in place of the edge, and calls of the operators' command line."""

import json
import sys
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from operations.campusctl.app import app

ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
OTHER = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f48"
HASH = "5f" * 32
PASSWORD, CODE = "the-pass-word", "482915"
# Built once: a hundred commands with their options.
CAMPUSCTL = get_command(app)
META = {"requestId": "req_4f9c2a7b8e1d4c6fa0b3", "page": 1, "limit": 20, "total": 1, "total_pages": 1}
PAYOUT = {"id": ID, "vendorId": OTHER, "amountMinor": 450_050, "status": "failed", "retryCount": 0, "createdAt": "x"}


@dataclass
class Gateway:
    """The server's responses and received requests."""

    url: str = ""
    responses: dict[str, tuple[int, Any]] = field(default_factory=dict)
    requests: list[dict[str, Any]] = field(default_factory=list)
    expires_in: int = 900
    # So many next requests get no response.
    dropped: int = 0

    def bodies(self, path: str) -> list[Any]:
        return [request["body"] for request in self.requests if request["path"] == path]


def tokens(gateway: Gateway, aal: str) -> dict[str, Any]:
    number = len(gateway.requests)
    return {
        "accessToken": f"secret-access-{number}", "refreshToken": f"secret-refresh-{number}", "tokenType": "Bearer",
        "expiresIn": gateway.expires_in, "aal": aal, "mfaRequired": aal == "aal1",
    }  # fmt: skip


def response_of(gateway: Gateway, path: str) -> tuple[int, dict[str, Any]]:
    """Status and document for a path: an envelope or a problem."""
    known = dict(gateway.responses)
    for name, aal in (("login", "aal1"), ("mfa/verify", "aal2"), ("refresh", "aal2")):
        known.setdefault(f"/api/auth/{name}", (200, tokens(gateway, aal)))
    status, content = known.get(path, (404, "There is no such thing."))
    if status < 400:
        return status, {"success": True, "data": content, "meta": META}
    problem = {"status": status, "code": "SOME_CODE", "detail": content, "requestId": META["requestId"]}
    if status == 422:
        problem["invalid_params"] = [{"name": "reason", "reason": "is too long"}]
    return status, problem


def handler_of(gateway: Gateway) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Nothing: the tests read the requests at the gateway."""

        def do_GET(self) -> None:
            self._respond()

        def do_POST(self) -> None:
            self._respond()

        def do_DELETE(self) -> None:
            self._respond()

        def _respond(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"null")
            path = self.path.split("?")[0]
            gateway.requests.append({"path": path, "line": self.path, "body": body, "headers": dict(self.headers)})
            if gateway.dropped:
                gateway.dropped -= 1
                self.close_connection = True
                return
            status, document = response_of(gateway, path)
            self._write(status, "application/json" if status < 400 else "application/problem+json", document)

        def _write(self, status: int, media: str, document: Any) -> None:
            raw = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", media)
            self.send_header("Content-Length", str(len(raw)))
            for name, value in (("Limit", "600"), ("Remaining", "599"), ("Reset", "1780000000")):
                self.send_header(f"RateLimit-{name}", value)
            if status == 503:
                self.send_header("Retry-After", "7")
            self.end_headers()
            self.wfile.write(raw)

    return Handler


def call(*arguments: str, **streams: Any) -> tuple[int, str, str]:
    """Return the exit code of campusctl, and what it wrote to its two streams; `streams` are `input` and `env`."""
    with CliRunner().isolation(**streams) as (out, err, _):
        with pytest.raises(SystemExit) as ended:
            CAMPUSCTL.main(args=arguments, prog_name="campusctl")
        sys.stdout.flush()
        sys.stderr.flush()
        texts = out.getvalue().decode(), err.getvalue().decode()
    code = ended.value.code or 0
    assert isinstance(code, int)
    return code, *texts


def call_json(*arguments: str, **more: Any) -> tuple[int, dict[str, Any]]:
    code, out, _ = call(*arguments, "--json", **more)
    document = json.loads(out)
    assert set(document) == {"ok", "data", "page", "error"}
    assert document["ok"] is (code == 0)
    return code, document
