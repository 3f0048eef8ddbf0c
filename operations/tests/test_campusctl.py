"""The operators' command line against a small real server: help, JSON, exit codes, tokens, confirmations."""

import base64
import hashlib
import json
import stat
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from typer.testing import CliRunner

from operations.campusctl.app import app
from operations.campusctl.showing import naira
from testkit.cases import for_each

ID = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
OTHER = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f48"
HASH = "5f" * 32
PASSWORD, CODE = "the-pass-word", "482915"
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


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    gateway = Gateway()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(gateway))
    gateway.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    for name in ("CAMPUS_EMAIL", "CAMPUS_PASSWORD", "CAMPUS_TOTP", "PORT_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STATE_DIR", str(tmp_path))
    monkeypatch.setenv("CAMPUS_URL", gateway.url)
    yield gateway
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def signed_in(gateway: Gateway) -> Gateway:
    assert call("login", "ops@campus.example", input=f"{PASSWORD}\n{CODE}\n")[0] == 0
    gateway.requests.clear()
    return gateway


def call(*arguments: str, **more: Any) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(arguments), **more)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


def call_json(*arguments: str, **more: Any) -> tuple[int, dict[str, Any]]:
    code, out, _ = call(*arguments, "--json", **more)
    document = json.loads(out)
    assert set(document) == {"ok", "data", "page", "error"}
    assert document["ok"] is (code == 0)
    return code, document


def test_the_version_is_the_installed_release() -> None:
    code, out, _ = call("--version")
    assert (code, out) == (0, f"campusctl {version('campus-operations')}\n")


def every_command() -> Iterator[tuple[str, ...]]:
    def walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        if hasattr(command, "commands"):
            for name, inner in command.commands.items():
                yield from walk(inner, (*path, name))
        else:
            yield path

    yield from walk(typer.main.get_command(app), ())


@for_each("path", list(every_command()), ids=" ".join)
def test_every_command_shows_its_help_with_an_example_and_accepts_json(path) -> None:
    code, out, _ = call(*path, "--help", env={"COLUMNS": "200", "TERM": "dumb"})
    assert code == 0
    assert f"campusctl {' '.join(path)}" in out.split("Examples:")[1]
    assert "--json" in out
    assert "--base-url" in out


def test_tokens_are_stored_where_no_other_user_reads_them_and_are_never_printed(
    gateway: Gateway, tmp_path: Path
) -> None:
    code, out, err = call("login", "ops@campus.example", "--json", input=f"{PASSWORD}\n{CODE}\n")
    assert code == 0
    assert json.loads(out)["data"] == {"email": "ops@campus.example", "baseUrl": gateway.url, "aal": "aal2"}
    for secret in ("secret-access", "secret-refresh", PASSWORD, CODE):
        assert secret not in out + err
    kept = tmp_path / "campusctl.json"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert PASSWORD not in kept.read_text()
    assert gateway.bodies("/api/auth/mfa/verify") == [{"code": CODE}]
    assert gateway.requests[-1]["headers"]["Authorization"].startswith("Bearer secret-access-")


def test_a_script_signs_in_by_the_environment(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"EMAIL": "ops@campus.example", "PASSWORD": PASSWORD, "TOTP": CODE}.items():
        monkeypatch.setenv(f"CAMPUS_{name}", text)
    assert call_json("login")[0] == 0
    assert gateway.bodies("/api/auth/login") == [{"email": "ops@campus.example", "password": PASSWORD}]


def test_a_refused_sign_in_keeps_nothing(gateway: Gateway, tmp_path: Path) -> None:
    gateway.responses["/api/auth/mfa/verify"] = (401, "The code is wrong.")
    code, document = call_json("login", "ops@campus.example", input=f"{PASSWORD}\n{CODE}\n")
    assert (code, document["error"]["detail"]) == (1, "The code is wrong.")
    assert not (tmp_path / "campusctl.json").exists()


def visit(address: str, **result: str) -> None:
    """Return from the provider to the program, after a page of another sign-in."""
    page = httpx.URL(httpx.URL(address).params["returnTo"])
    assert httpx.get(page.copy_with(path="/another"), params={"code": "stolen"}, trust_env=False).status_code == 404
    assert httpx.get(page, params=result, trust_env=False).status_code == 200


@pytest.fixture
def provider(gateway: Gateway, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    """Yield the result with which the browser returns; the addresses that it opened are added."""
    gateway.responses["/api/auth/oidc"] = (200, [{"name": "school"}])
    gateway.responses["/api/auth/oidc/exchange"] = (200, {**tokens(gateway, "aal2"), "mfaRequired": False})
    gateway.responses["/api/profiles/current"] = (200, {"email": "ops@campus.example"})
    result = {"code": "one-time"}
    threads: list[threading.Thread] = []

    def open_browser(address: str) -> bool:
        threads.append(threading.Thread(target=visit, args=(address,), kwargs=result))
        threads[-1].start()
        return True

    monkeypatch.setattr("webbrowser.open", open_browser)
    yield result
    for thread in threads:
        thread.join()


def test_a_sign_in_in_the_browser_returns_to_this_machine(
    gateway: Gateway, provider: dict[str, str], tmp_path: Path
) -> None:
    code, out, err = call("login", "--provider", "school", "--json")
    assert (code, json.loads(out)["data"]["email"]) == (0, "ops@campus.example")
    [body] = gateway.bodies("/api/auth/oidc/exchange")
    address = httpx.URL(next(word for word in err.split() if word.startswith("http")))
    digest = hashlib.sha256(body["codeVerifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == address.params["codeChallenge"]
    assert body["code"] == "one-time"
    assert httpx.URL(address.params["returnTo"]).host == "127.0.0.1"
    assert body["codeVerifier"] not in out + err
    assert stat.S_IMODE((tmp_path / "campusctl.json").stat().st_mode) == 0o600


def test_a_sign_in_in_the_browser_includes_the_own_factor(gateway: Gateway, provider: dict[str, str]) -> None:
    gateway.responses["/api/auth/oidc/exchange"] = (200, tokens(gateway, "aal1"))
    code, document = call_json("login", "--provider", "school", input=f"{CODE}\n")
    assert (code, document["data"]["aal"]) == (0, "aal2")
    assert gateway.bodies("/api/auth/mfa/verify") == [{"code": CODE}]


def test_a_failed_sign_in_in_the_browser_shows_its_reason(
    gateway: Gateway, provider: dict[str, str], tmp_path: Path
) -> None:
    provider.clear()
    provider["error"] = "no_account"
    code, document = call_json("login", "--provider", "school")
    assert code == 1
    assert "no account has your mail address" in document["error"]["detail"]
    assert not (tmp_path / "campusctl.json").exists()


def test_an_unknown_provider_is_named_with_the_known_ones(provider: dict[str, str]) -> None:
    code, document = call_json("login", "--provider", "another")
    assert (code, document["error"]["advice"]) == (1, "Known ones: school")


def test_a_sign_in_without_a_user_is_wrong_usage(gateway: Gateway) -> None:
    assert call_json("login")[0] == 2


def test_a_token_is_never_given_to_another_address(signed_in: Gateway) -> None:
    code, document = call_json("alerts", "list", "--base-url", signed_in.url.replace("127.0.0.1", "localhost"))
    assert (code, document["error"]["advice"]) == (1, "Sign in again: campusctl login")
    assert signed_in.requests == []


def test_an_old_token_is_renewed_before_it_is_used(gateway: Gateway) -> None:
    gateway.expires_in = 1
    call("login", "ops@campus.example", input=f"{PASSWORD}\n{CODE}\n")
    gateway.requests.clear()
    gateway.responses["/api/alerts"] = (200, [])
    assert call_json("alerts", "list")[0] == 0
    assert [request["path"] for request in gateway.requests] == ["/api/auth/refresh", "/api/alerts"]
    assert gateway.requests[0]["body"]["refreshToken"].startswith("secret-refresh-")


def test_a_list_is_one_document_with_its_page(signed_in: Gateway) -> None:
    signed_in.responses["/api/payouts"] = (200, [PAYOUT])
    code, document = call_json("payouts", "list", "--status", "failed", "--limit", "5")
    assert (code, document["data"]) == (0, [PAYOUT])
    assert document["page"] == {"page": 1, "limit": 20, "total": 1, "totalPages": 1}
    assert signed_in.requests[0]["line"] == "/api/payouts?page=1&limit=5&status=failed"


def test_an_api_key_is_created_shown_and_revoked(signed_in: Gateway) -> None:
    key = {"id": ID, "name": "Till", "key": "cm_live_secret"}
    signed_in.responses |= {"/api/api-keys": (201, key), f"/api/api-keys/{ID}": (200, None)}
    code, document = call_json("api-keys", "create", "Till", "--scope", "orders:read", "--network", "192.0.2.0/24")
    assert (code, document["data"]["key"]) == (0, "cm_live_secret")
    [body] = signed_in.bodies("/api/api-keys")
    assert (body["name"], body["scopes"], body["networks"]) == ("Till", ["orders:read"], ["192.0.2.0/24"])
    assert call("api-keys", "revoke", str(ID), "--yes")[0] == 0
    assert signed_in.requests[-1]["path"] == f"/api/api-keys/{ID}"


def test_a_terminal_shows_a_table_with_naira_and_no_control_characters(signed_in: Gateway) -> None:
    signed_in.responses["/api/payouts"] = (200, [{**PAYOUT, "status": "\x1b[31m[bold]red"}])
    code, out, _ = call("payouts", "list", env={"COLUMNS": "250"})
    assert code == 0
    assert "₦4,500.50" in out
    assert "?[31m[bold]red" in out
    assert "\x1b[31m" not in out


@pytest.mark.parametrize("status", [401, 403, 404, 409, 422, 429, 500, 503])
def test_an_error_shows_its_cause_and_what_to_do(signed_in: Gateway, status: int) -> None:
    signed_in.responses[f"/api/payouts/{ID}"] = (status, "It was refused.")
    code, document = call_json("payouts", "show", ID)
    error = document["error"]
    assert (code, error["exitCode"], error["status"], error["code"]) == (1, 1, status, "SOME_CODE")
    assert (error["detail"], error["requestId"]) == ("It was refused.", META["requestId"])
    assert error["advice"]
    assert bool(error["invalidParams"]) is (status == 422)
    code, out, err = call("payouts", "show", ID)
    assert (code, out) == (1, "")
    assert "It was refused." in err
    assert META["requestId"] in err


def test_an_unreachable_service_is_exit_code_three() -> None:
    code, document = call_json("keys", "show", "--base-url", "http://127.0.0.1:9")
    assert (code, document["error"]["exitCode"]) == (3, 3)
    assert "CAMPUS_URL" in document["error"]["advice"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("payouts", "show", "not-an-id"),
        ("payouts", "reset", ID),
        ("dead-letters", "list", "nowhere"),
        ("alerts", "list", "--limit", "101"),
        ("no-such-command",),
    ],
)
def test_wrong_usage_is_exit_code_two_without_a_request(gateway: Gateway, arguments) -> None:
    code, out, err = call(*arguments, "--json")
    assert (code, out) == (2, "")
    assert err
    assert gateway.requests == []


def test_no_money_is_transferred_without_confirmation(signed_in: Gateway) -> None:
    signed_in.responses["/api/payout-exceptions"] = (200, [{"id": OTHER, "payoutId": ID, "amountMinor": 450_050}])
    signed_in.responses[f"/api/payouts/{ID}/reset"] = (200, PAYOUT)
    for reply in ("n\n", ""):
        code, document = call_json("payouts", "reset", ID, "--reason", "bank down", input=reply)
        assert (code, document["error"]["detail"]) == (1, "Not confirmed: nothing was changed.")
    assert signed_in.bodies(f"/api/payouts/{ID}/reset") == []
    code, _, err = call("payouts", "reset", ID, "--reason", "bank down", input="y\n")
    assert code == 0
    assert "₦4,500.50" in err
    assert call_json("payouts", "reset", ID, "--reason", "bank down", "--yes")[0] == 0
    assert signed_in.bodies(f"/api/payouts/{ID}/reset") == [{"reason": "bank down"}] * 2


def test_what_was_confirmed_is_exactly_what_is_dispatched(signed_in: Gateway) -> None:
    plan = {"transfers": [{"payoutId": ID}, {"payoutId": OTHER}], "totalMinor": 100}
    signed_in.responses["/api/payouts/dispatch"] = (200, plan)
    assert call_json("payouts", "dispatch", "--max-total-minor", "500", input="y\n")[0] == 0
    assert signed_in.bodies("/api/payouts/dispatch") == [
        {"maxTotalMinor": 500, "dryRun": True},
        {"maxTotalMinor": 500, "payoutIds": [ID, OTHER]},
    ]


def test_a_dry_run_sends_nothing_and_prompts_for_nothing(signed_in: Gateway) -> None:
    signed_in.responses["/api/payouts/dispatch"] = (200, {"transfers": []})
    assert call_json("payouts", "dispatch", ID, "--dry-run")[0] == 0
    assert signed_in.bodies("/api/payouts/dispatch") == [{"payoutIds": [ID], "dryRun": True}]


def test_a_lost_response_is_requested_again_under_the_same_key(signed_in: Gateway) -> None:
    path = f"/api/reconciliations/{ID}/approve"
    signed_in.responses[path] = (200, {"id": ID})
    signed_in.dropped = 2
    assert call_json("reconciliations", "approve", ID, "--hash", HASH, "--yes")[0] == 0
    keys = [request["headers"]["Idempotency-Key"] for request in signed_in.requests if request["path"] == path]
    assert len(keys) == 3
    assert len(set(keys)) == 1


STOP = {"reason": "Wrong prices", "message": "Checkout is back at noon."}
STOP_TEXTS = ("--reason", STOP["reason"], "--message", STOP["message"])


def test_a_stop_of_checkout_is_confirmed_and_has_an_end(signed_in: Gateway) -> None:
    signed_in.responses["/api/stops/checkout"] = (201, {"id": ID})
    assert call("stop", "checkout", "--for", "30m", *STOP_TEXTS, input="n\n")[0] == 1
    assert signed_in.bodies("/api/stops/checkout") == []
    before = datetime.now(UTC).replace(microsecond=0)
    assert call("stop", "checkout", "--for", "30m", *STOP_TEXTS, input="y\n")[0] == 0
    [body] = signed_in.bodies("/api/stops/checkout")
    expires_at = datetime.fromisoformat(body.pop("expiresAt"))
    assert before + timedelta(minutes=30) <= expires_at <= datetime.now(UTC) + timedelta(minutes=30)
    assert body == STOP


@pytest.mark.parametrize("duration", ["30", "0m", "m", "1d", "-5m"])
def test_a_stop_without_a_valid_duration_is_wrong_usage(signed_in: Gateway, duration: str) -> None:
    code, _ = call_json("stop", "dispatch", f"--for={duration}", *STOP_TEXTS, "--yes")
    assert code == 2
    assert signed_in.requests == []


def test_stops_are_listed_by_state_and_ended(signed_in: Gateway) -> None:
    stop = {
        "id": ID,
        **STOP,
        "stoppedBy": OTHER,
        "stoppedAt": "",
        "expiresAt": "",
        "liftedAt": None,
        "liftReason": None,
    }
    signed_in.responses["/api/stops/checkout"] = (200, {"current": stop, "earlier": [{**stop, "liftedAt": "x"}]})
    signed_in.responses["/api/stops/dispatch"] = (200, {"current": None, "earlier": [stop]})
    code, document = call_json("stop", "list")
    assert code == 0
    assert [(one["operation"], one["state"]) for one in document["data"]] == [
        ("checkout", "in force"),
        ("checkout", "lifted"),
        ("dispatch", "expired"),
    ]
    signed_in.responses["/api/stops/checkout/lift"] = (200, {"id": ID})
    assert call("stop", "end", "checkout", "--reason", "Corrected", "--yes")[0] == 0
    assert signed_in.bodies("/api/stops/checkout/lift") == [{"reason": "Corrected"}]


def test_one_payout_is_held_and_released(signed_in: Gateway) -> None:
    for verb in ("hold", "release"):
        signed_in.responses[f"/api/payouts/{ID}/{verb}"] = (200, {"id": ID})
    assert call("payouts", "hold", ID, "--reason", "A theft")[0] == 0
    assert call("payouts", "release", ID, "--reason", "Safe", input="n\n")[0] == 1
    assert signed_in.bodies(f"/api/payouts/{ID}/release") == []
    assert call("payouts", "release", ID, "--reason", "Safe", "--yes")[0] == 0
    assert signed_in.bodies(f"/api/payouts/{ID}/hold") == [{"reason": "A theft"}]


APPROVALS = {
    "payout-runs": (f"/api/payout-batches/{ID}", {"transfers": [{"payoutId": OTHER}], "totalMinor": 100}),
    "reconciliations": (f"/api/reconciliations/{ID}", {"kind": "restitution", "amountMinor": 100, "payoutId": OTHER}),
    "accounts": (
        f"/api/bank-detail-releases/{ID}",
        {"accountLast4": "6789", "bankCode": "058", "reason": "The bank confirmed the owner"},
    ),
    "staff": (f"/api/staff-grants/{ID}", {"userId": OTHER, "role": "finance_maker"}),
    "commissions": (f"/api/commission-changes/{ID}", {"vendorId": OTHER, "commissionBasisPoints": 450}),
}


@pytest.mark.parametrize("group", APPROVALS)
def test_an_approval_shows_the_decision_and_sends_its_hash(signed_in: Gateway, group: str) -> None:
    path, prepared = APPROVALS[group]
    signed_in.responses[path] = (200, {"id": ID, "hash": HASH, **prepared})
    signed_in.responses[f"{path}/approve"] = (200, {"id": ID})
    assert call(group, "approve", ID, input="n\n")[0] == 1
    assert signed_in.bodies(f"{path}/approve") == []
    code, _, err = call(group, "approve", ID, input="y\n")
    assert (code, HASH in err) == (0, True)
    assert signed_in.bodies(f"{path}/approve") == [{"hash": HASH}]


@pytest.mark.parametrize("group", APPROVALS)
def test_nothing_is_approved_unread(signed_in: Gateway, group: str) -> None:
    path, _ = APPROVALS[group]
    signed_in.responses[f"{path}/approve"] = (200, {"id": ID})
    code, document = call_json(group, "approve", ID, "--yes")
    assert (code, "--hash" in document["error"]["advice"]) == (1, True)
    assert signed_in.requests == []
    assert call_json(group, "approve", ID, "--yes", "--hash", HASH)[0] == 0
    assert signed_in.bodies(f"{path}/approve") == [{"hash": HASH}]


def test_without_a_response_the_key_is_shown_for_a_retry(signed_in: Gateway) -> None:
    path = f"/api/dead-letters/orders/{ID}/replay"
    signed_in.dropped = 3
    code, document = call_json("dead-letters", "replay", "orders", ID)
    key = signed_in.requests[0]["headers"]["Idempotency-Key"]
    assert code == 3
    assert key in document["error"]["advice"]
    signed_in.responses[path] = (200, {"id": ID})
    assert call_json("dead-letters", "replay", "orders", ID, "--idempotency-key", key)[0] == 0
    assert {request["headers"]["Idempotency-Key"] for request in signed_in.requests} == {key}


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("quarantine", f"/api/vendors/{ID}/bank-details/quarantine", {"reason": "a test"}),
        ("prepare", f"/api/vendors/{ID}/bank-details/release", {"reason": "a test"}),
        ("reject", f"/api/bank-detail-releases/{ID}/reject", {"reason": "a test"}),
    ],
)
def test_an_account_is_quarantined_and_its_release_decided(signed_in: Gateway, verb: str, path: str, body) -> None:
    signed_in.responses[path] = (200, {"id": ID})
    assert call_json("accounts", verb, ID, "--reason", "a test")[0] == 0
    assert signed_in.bodies(path) == [body]


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("dead-letters", "close", "orders", ID), f"/api/dead-letters/orders/{ID}/close"),
        (("webhooks", "dead", "close", ID), f"/api/dead-letter-webhooks/{ID}/close"),
    ],
)
def test_a_dead_letter_is_closed_with_its_reason(signed_in: Gateway, arguments, path: str) -> None:
    signed_in.responses[path] = (200, {"id": ID, "closeReason": "a test"})
    assert call(*arguments)[0] == 2
    assert call_json(*arguments, "--reason", "a test")[1]["data"]["closeReason"] == "a test"
    assert signed_in.bodies(path) == [{"reason": "a test"}]


def test_a_dead_webhook_is_shown_by_the_id_of_its_event(signed_in: Gateway) -> None:
    signed_in.responses["/api/dead-letter-webhooks/charge.success%3A1"] = (200, {"id": ID, "history": []})
    assert call_json("webhooks", "dead", "show", "charge.success:1")[1]["data"]["id"] == ID
    code, document = call_json("webhooks", "dead", "show", OTHER)
    assert (code, document["error"]["detail"]) == (1, f"No dead webhook or event has the id '{OTHER}'.")


@pytest.mark.parametrize("verb", [("replay",), ("close", "--reason", "a test")])
def test_a_dead_webhook_is_named_by_the_id_of_its_event(signed_in: Gateway, verb: tuple[str, ...]) -> None:
    path = f"/api/dead-letter-webhooks/message%3Awamid.HBg%2FA%3D%3D/{verb[0]}"
    signed_in.responses[path] = (200, {"id": ID})
    arguments = ("webhooks", "dead", verb[0], "message:wamid.HBg/A==", *verb[1:])
    assert call_json(*arguments)[1]["data"]["id"] == ID
    signed_in.responses.clear()
    code, document = call_json(*arguments)
    assert (code, document["error"]["status"]) == (1, 404)
    assert document["error"]["detail"] == "No dead webhook or event has the id 'message:wamid.HBg/A=='."
    assert "webhooks dead list" in document["error"]["advice"]


def test_quotas_are_those_of_the_edge(signed_in: Gateway) -> None:
    signed_in.responses["/api/profiles/current"] = (200, {})
    shown = call_json("quotas", "show")[1]["data"]
    assert (shown["limit"], shown["remaining"], shown["resetAt"]) == (600, 599, 1_780_000_000)


@pytest.mark.parametrize(
    "arguments",
    [
        ("audit",),
        ("ledger", "verify"),
        ("keys", "rotate", "--yes"),
        ("demo", "load"),
        ("service", "payments", "reconcile", "--from", "2026-11-21T00:00:00Z"),
    ],
)
def test_local_commands_report_a_missing_system(gateway: Gateway, arguments) -> None:
    code, document = call_json(*arguments)
    assert code == 3
    assert "STATE_DIR" in document["error"]["advice"]


def test_any_other_endpoint_is_called_with_the_token_and_a_change_is_confirmed(signed_in: Gateway) -> None:
    path = f"/api/reconciliation-cases/{ID}/close"
    signed_in.responses = {path: (200, {"id": ID}), "/api/reconciliation-cases": (200, [{"id": ID}])}
    assert call_json("call", "GET", "/api/reconciliation-cases?status=open")[1]["data"] == [{"id": ID}]
    body = ("--body", '{"evidence": "Letter"}')
    assert call("call", "POST", path, *body, input="n\n")[0] == 1
    assert signed_in.bodies(path) == []
    assert call_json("call", "POST", path, *body, "--yes")[0] == 0
    assert signed_in.bodies(path) == [{"evidence": "Letter"}]
    for wrong in (("GET", "https://elsewhere.example/api"), ("POST", path, "--body", "[1]")):
        assert call_json("call", *wrong)[1]["error"]["exitCode"] == 2


def test_a_session_that_ended_elsewhere_is_forgotten_by_a_sign_out(signed_in: Gateway, tmp_path: Path) -> None:
    signed_in.responses = {"/api/auth/logout": (401, "The session has ended.")}
    assert call("logout")[0] == 0
    assert call_json("logout")[1]["error"]["detail"].startswith("You are not signed in")


def test_unreadable_or_unstorable_tokens_are_reported_with_what_to_do(
    signed_in: Gateway, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (kept,) = tmp_path.rglob("campusctl.json")
    kept.write_text("{")
    assert "Remove it" in call_json("alerts", "list")[1]["error"]["advice"]
    monkeypatch.setenv("STATE_DIR", str(kept))
    assert "STATE_DIR" in call_json("alerts", "list")[1]["error"]["advice"]


def test_the_gateway_is_that_of_the_system_whose_port_base_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CAMPUS_URL", raising=False)
    monkeypatch.setenv("PORT_BASE", "20099")
    assert "http://localhost:20099 " in call_json("keys", "show")[1]["error"]["detail"]
    monkeypatch.setenv("PORT_BASE", "many")
    assert call_json("keys", "show")[1]["error"]["exitCode"] == 2


def test_the_page_of_the_commands_names_every_one() -> None:
    page = (Path(__file__).parents[2] / "docs" / "campusctl.md").read_text()
    assert [path for path in every_command() if f"`{' '.join(path)}" not in page] == []


def test_kobo_are_read_as_naira() -> None:
    assert [naira(minor) for minor in (5, -123_456, 100_000_000)] == ["₦0.05", "-₦1,234.56", "₦1,000,000.00"]


def test_a_quarantined_charge_is_decided_with_its_facts_before_the_eyes(signed_in: Gateway) -> None:
    path = f"/api/quarantined-charges/{ID}"
    charge = {
        "id": ID,
        "reference": "ch-1",
        "orderId": None,
        "amountMinor": 500_000,
        "currency": "GHS",
        "reason": "foreign_currency",
        "status": "prepared",
        "decision": {"outcome": "return", "reason": "paid in cedis"},
        "hash": "f" * 64,
    }
    signed_in.responses["/api/quarantined-charges"] = (200, [charge])
    signed_in.responses |= {path: (200, charge), f"{path}/prepare": (200, charge), f"{path}/reject": (200, charge)}
    signed_in.responses[f"{path}/approve"] = (200, {**charge, "status": "returned"})
    assert call_json("quarantine", "list", "--status", "prepared")[1]["data"] == [charge]
    assert call_json("quarantine", "show", ID)[1]["data"] == charge
    reason = ("--reason", "paid in cedis")
    assert call_json("quarantine", "prepare", ID, "--outcome", "return", *reason)[0] == 0
    assert signed_in.bodies(f"{path}/prepare") == [{"outcome": "return", "reason": "paid in cedis"}]
    code, _, requests = call("quarantine", "approve", ID, input="n\n")
    assert code == 1
    assert signed_in.bodies(f"{path}/approve") == []
    for fact in ("return", "500000 GHS in minor units", "ch-1", "order unknown", "paid in cedis"):
        assert fact in requests
    assert call_json("quarantine", "approve", ID, "--yes", "--hash", "f" * 64)[1]["data"]["status"] == "returned"
    assert signed_in.bodies(f"{path}/approve") == [{"hash": "f" * 64}]
    assert call_json("quarantine", "reject", ID, "--reason", "ask first")[0] == 0
    assert signed_in.bodies(f"{path}/reject") == [{"reason": "ask first"}]


def test_a_failed_refund_is_decided_with_its_facts_before_the_eyes(signed_in: Gateway) -> None:
    path = f"/api/refunds/{ID}"
    account = {"last4": "6789", "bankCode": "058", "accountName": "Chidi Okafor", "nameAtBank": None, "verified": False}
    decision = {"action": "other_destination", "reason": "the payer named it", "destination": account}
    refund = {
        "id": ID,
        "orderId": ID,
        "amountMinor": 500_000,
        "currency": "NGN",
        "status": "prepared",
        "decision": decision,
    }
    refund |= {"hash": "f" * 64, "needsAccount": True}
    signed_in.responses["/api/refunds"] = (200, [refund])
    signed_in.responses |= {path: (200, refund), f"{path}/prepare": (200, refund), f"{path}/reject": (200, refund)}
    signed_in.responses[f"{path}/approve"] = (200, {**refund, "status": "submitting"})
    assert call_json("refunds", "list", "--status", "failed")[1]["data"] == [refund]
    assert call_json("refunds", "show", ID)[1]["data"] == refund
    reason = ("--reason", "the payer named it")
    named = ("--account-number", "0123456789", "--bank-code", "058", "--account-name", "Chidi Okafor")
    assert call_json("refunds", "prepare", ID, *reason)[0] == 0
    assert call_json("refunds", "prepare", ID, *reason, *named)[0] == 0
    assert call("refunds", "prepare", ID, *reason, "--bank-code", "058")[0] == 2
    destination = {"accountNumber": "0123456789", "bankCode": "058", "accountName": "Chidi Okafor"}
    assert signed_in.bodies(f"{path}/prepare") == [
        {"action": "retry", "reason": "the payer named it"},
        {"action": "other_destination", "reason": "the payer named it", "destination": destination},
    ]
    code, _, requests = call("refunds", "approve", ID, input="n\n")
    assert (code, signed_in.bodies(f"{path}/approve")) == (1, [])
    for fact in ("other_destination", "5,000.00", "...6789", "Chidi Okafor", "the payer named it"):
        assert fact in requests
    assert "NOT VERIFIED: the bank confirmed no name" in requests
    account["nameAtBank"] = "BOLA ADE"
    assert "NOT VERIFIED: the bank names BOLA ADE" in call("refunds", "approve", ID, input="n\n")[2]
    account["verified"] = True
    assert "NOT VERIFIED" not in call("refunds", "approve", ID, input="n\n")[2]
    assert call_json("refunds", "approve", ID, "--yes", "--hash", "f" * 64)[1]["data"]["status"] == "submitting"
    assert call_json("refunds", "reject", ID, "--reason", "ask first")[0] == 0
    assert signed_in.bodies(f"{path}/reject") == [{"reason": "ask first"}]


CHARGEBACK = {"id": ID, "status": "opened", "dueAt": "x", "amountMinor": 500_000, "currency": "NGN", "orderId": None}


def test_evidence_for_a_chargeback_is_sent_with_its_optional_parts(signed_in: Gateway) -> None:
    path = f"/api/chargebacks/{ID}"
    signed_in.responses[f"{path}/evidence"] = (200, CHARGEBACK)
    buyer = ("--email", "a@b.example", "--name", "Ngozi", "--phone", "+2348012345678", "--details", "Two books")
    assert call_json("chargebacks", "evidence", ID, *buyer)[0] == 0
    assert (
        call_json("chargebacks", "evidence", ID, *buyer, "--address", "Hall 3", "--delivered-on", "2026-03-04")[0] == 0
    )
    first, second = signed_in.bodies(f"{path}/evidence")
    assert first == {
        "customerEmail": "a@b.example",
        "customerName": "Ngozi",
        "customerPhone": "+2348012345678",
        "serviceDetails": "Two books",
    }
    assert second == {**first, "deliveryAddress": "Hall 3", "deliveryDate": "2026-03-04"}


def test_a_chargeback_is_contested_or_accepted_with_a_file(signed_in: Gateway, tmp_path: Path) -> None:
    path = f"/api/chargebacks/{ID}"
    signed_in.responses |= {path: (200, CHARGEBACK), f"{path}/resolve": (200, CHARGEBACK)}
    signed_in.responses["/api/chargebacks"] = (200, [CHARGEBACK])
    proof = tmp_path / "proof.pdf"
    proof.write_bytes(b"%PDF-1.4")
    given = ("--message", "m", "--file", str(proof))
    assert call_json("chargebacks", "list", "--status", "opened")[1]["data"] == [CHARGEBACK]
    assert call_json("chargebacks", "show", ID)[1]["data"] == CHARGEBACK
    assert call_json("chargebacks", "contest", ID, *given)[0] == 0
    code, _, requests = call("chargebacks", "accept", ID, *given, input="n\n")
    assert (code, "Return ₦5,000.00 to the payer" in requests) == (1, True)
    assert call_json("chargebacks", "accept", ID, *given, "--amount", "200000", "--yes")[0] == 0
    encoded = {"message": "m", "attachment": "JVBERi0xLjQ="}
    assert signed_in.bodies(f"{path}/resolve") == [
        {"resolution": "contest", **encoded},
        {"resolution": "accept", **encoded, "amountMinor": 200_000},
    ]
    assert call("chargebacks", "contest", ID, "--message", "m", "--file", str(tmp_path / "absent"))[0] == 2
