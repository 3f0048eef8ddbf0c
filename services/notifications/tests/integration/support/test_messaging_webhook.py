"""Webhooks of the messaging app: the handshake, signatures, and bodies of any shape."""

import hashlib
import json

import asyncpg
import httpx
import pytest

from testkit.service_kit import OpenService

from ..conftest import MESSAGING_SECRET as SECRET
from ..conftest import MESSAGING_VERIFY_TOKEN as VERIFY_TOKEN
from ..conftest import OpenScenario, Scenario
from ..messaging_app import QUEUE, WEBHOOK, body_of, post, process, signature, text, tickets


async def test_the_handshake_returns_the_challenge_for_a_valid_token(client: httpx.AsyncClient) -> None:
    query = {"hub.mode": "subscribe", "hub.verify_token": VERIFY_TOKEN, "hub.challenge": "11587<b>"}
    response = await client.get(WEBHOOK, params=query)
    assert (response.status_code, response.text) == (200, "11587<b>")
    assert response.headers["content-type"].startswith("text/plain")
    for wrong in ({"hub.mode": "unsubscribe"}, {"hub.verify_token": "guess"}, {"hub.verify_token": "é\ud7ff"}):
        rejected = await client.get(WEBHOOK, params={**query, **wrong})
        assert (rejected.status_code, rejected.json()["code"]) == (403, "AUTH_FORBIDDEN")
    assert (await client.get(WEBHOOK)).status_code == 403
    redacted = {name: value for name, value in query.items() if name != "hub.challenge"}
    for empty in (redacted, {**query, "hub.challenge": ""}):
        rejected = await client.get(WEBHOOK, params=empty)
        assert (rejected.status_code, rejected.json()["code"]) == (403, "AUTH_FORBIDDEN")


async def test_forged_signatures_are_401(scenario: Scenario) -> None:
    raw = json.dumps(body_of({"messages": [text("wamid.1", "Hello")]})).encode()
    right = signature(raw)
    hexed = right.removeprefix("sha256=")
    forged = [
        "",
        hexed,
        "sha256=",
        "sha256=" + hexed.upper(),
        "SHA256=" + hexed,
        "sha256:" + hexed,
        "sha256 =" + hexed,
        "sha256==" + hexed,
        right[:-1],
        right + "0",
        right + ",",
        f"{right},{right}",
        right + "\t0",
        "sha1=" + hexed[:40],
        "sha512=" + hexed,
        signature(raw, algorithm="sha1"),
        signature(raw, algorithm="sha512"),
        signature(raw, secret=""),
        signature(raw, secret="another secret"),
        signature(raw, secret=VERIFY_TOKEN),
        signature(raw + b" "),
        signature(b""),
        "sha256=" + hashlib.sha256(raw).hexdigest(),
        "sha256=" + hashlib.sha256(SECRET.encode() + raw).hexdigest(),
        "sha256=" + "0" * 64,
        "sha256=" + "g" * 64,
        "sha256=" + "\u0660".encode().decode("latin-1") * 32,
        "sha256=" + hexed[1:] + hexed[:1],
        "Bearer " + hexed,
    ]
    for one in forged:
        rejected = await post(scenario, raw, {"X-Hub-Signature-256": one.encode("latin-1")})
        assert (rejected.status_code, rejected.json()["code"]) == (401, "AUTH_UNAUTHORIZED"), one
        assert rejected.headers["content-type"] == "application/problem+json"
        assert rejected.json()["error"] == "Invalid signature"
    two = [("X-Hub-Signature-256", right), ("X-Hub-Signature-256", right)]
    assert (await post(scenario, raw, two)).status_code == 401
    assert (await post(scenario, raw, {"X-Gateway-Signature": right})).status_code == 401
    assert (await post(scenario, raw, {})).status_code == 401
    assert await scenario.fetch("SELECT 1 FROM processed_webhook_events") == []
    assert (await post(scenario, raw)).status_code == 200


async def test_without_a_secret_every_call_is_rejected_with_a_warning(
    open_scenario: OpenScenario, capsys: pytest.CaptureFixture[str]
) -> None:
    async with open_scenario() as scenario:
        raw = b"{}"
        headers = {"X-Hub-Signature-256": signature(raw, secret="")}
        assert (await scenario.client.post(WEBHOOK, content=raw, headers=headers)).status_code == 401
        query = {"hub.mode": "subscribe", "hub.verify_token": "", "hub.challenge": "1"}
        assert (await scenario.client.get(WEBHOOK, params=query)).status_code == 403
    assert "MESSAGING_APP_SECRET is empty" in capsys.readouterr().out


ODD_BODIES = [
    b"",
    b"not json",
    b"\xff\xfe\x00",
    b"null",
    b"0",
    b'"text"',
    b"[]",
    b"{}",
    b'{"entry": null}',
    b'{"entry": {"changes": []}}',
    b'{"entry": [1, null, "x", {}]}',
    b'{"entry": [{"changes": [null, {"field": 7, "value": []}]}]}',
    b'{"entry": [{"changes": [{"value": {"messages": {"id": "x"}, "statuses": "y", "contacts": [7]}}]}]}',
    b'{"a": NaN, "b": 1e400}',
    b'{"a": "\\u0000", "b": "\\ud800"}',
    b"[" * 100_000,
    b'{"entry": ' + b"[" * 900 + b"]" * 900 + b"}",
    json.dumps(body_of({"event": "x"}, field="account_update")).encode(),
    json.dumps({"object": "page", "entry": [{"id": "1", "time": 7}]}).encode(),
]


async def test_a_signed_body_of_any_shape_is_stored(scenario: Scenario, app: OpenService) -> None:
    for raw in ODD_BODIES:
        response = await post(scenario, raw)
        assert response.status_code == 200, raw[:80]
        await app.work(QUEUE)
    rows = await scenario.fetch("SELECT provider, raw, outcome FROM processed_webhook_events")
    assert {row["raw"] for row in rows} == set(ODD_BODIES)
    assert {(row["provider"], row["outcome"]) for row in rows} == {("messaging_app", "ignored")}
    assert await tickets(scenario) == []


async def test_a_body_above_four_mebibytes_is_413(scenario: Scenario) -> None:
    frame = len(json.dumps({"pad": ""}))
    raw = json.dumps({"pad": "x" * (4 * 1024 * 1024 - frame)}).encode()
    assert len(raw) == 4 * 1024 * 1024
    assert (await post(scenario, raw)).status_code == 200
    assert (await post(scenario, raw + b" ")).status_code == 413


async def test_webhook_bodies_are_hidden_from_the_api_role(scenario: Scenario, app: OpenService) -> None:
    await process(scenario, {"messages": [text("wamid.1", "Hello")]})
    for table in ("processed_webhook_events", "messaging_items"):
        connection = await asyncpg.connect(app.settings.api_database_url.replace("+asyncpg", ""))
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch(f"SELECT * FROM {table}")
        await connection.close()
