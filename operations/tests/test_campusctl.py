"""The operators' command line against a small real server: help, JSON, exit codes, tokens, confirmations."""

import base64
import hashlib
import json
import stat
import threading
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer

from operations.campusctl.app import app
from operations.campusctl.showing import naira
from testkit.cases import for_each

from .campusctl_double import CODE, ID, META, PASSWORD, PAYOUT, Gateway, call, call_json, tokens


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
