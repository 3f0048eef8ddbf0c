"""`campusctl rotation check-dns`: the token of the DNS provider, as cert-manager uses it."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from operations.campusctl.app import app
from testkit.dns_provider import ZONE, DnsProvider, dns_provider
from testkit.kubernetes_api import kubernetes_api


async def check(provider: DnsProvider, *arguments: str, token: str | None = None, code: int = 0) -> dict[str, Any]:
    command = ["rotation", "check-dns", "--zone", ZONE, *arguments, "--json"]
    environment = {"NEW_SECRET": token, "DNS_API_URL": provider.url}
    result = await asyncio.to_thread(CliRunner().invoke, app, command, env=environment)
    assert result.exit_code == code, result.output
    document = json.loads(result.stdout)
    found: dict[str, Any] = document["error"] or document["data"]
    return found


async def test_a_valid_token_writes_a_record_of_a_challenge_and_deletes_it() -> None:
    async with dns_provider("new") as provider:
        checked = await check(provider, token="new")
        assert checked["record"].startswith("_acme-challenge.")
        assert provider.written == {"new": 1}
        assert provider.records == {}


async def test_a_revoked_token_is_rejected_with_the_providers_reason() -> None:
    async with dns_provider("new") as provider:
        error = await check(provider, token="old", code=1)
        assert "1000 Invalid API Token" in error["detail"]
        assert provider.written == {}


@pytest.mark.parametrize(
    ("missing", "named"), [("without_zones", "Zone:Zone:Read"), ("without_records", "Zone:DNS:Edit")]
)
async def test_a_missing_right_is_named(missing: str, named: str) -> None:
    async with dns_provider("new") as provider:
        setattr(provider, missing, {"new"})
        assert named in (await check(provider, token="new", code=1))["detail"]


async def test_without_a_token_or_a_provider_the_error_names_the_remedy() -> None:
    async with dns_provider() as provider:
        assert "NEW_SECRET" in (await check(provider, code=2))["advice"]
        provider.url = "http://127.0.0.1:9"
        assert "not reachable" in (await check(provider, token="new", code=3))["detail"]


async def test_the_token_of_a_cluster_is_read_from_its_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with kubernetes_api(tmp_path) as api:
        monkeypatch.setenv("KUBECONFIG", str(api.kubeconfig))
        monkeypatch.setenv("HOME", str(tmp_path))
        async with dns_provider("in-use") as provider:
            assert "no Secret dns-token" in (await check(provider, "--kubernetes", code=1))["detail"]
            api.add_secret("dns-token", {"token": "in-use"})
            assert (await check(provider, "--kubernetes"))["valid"]
            assert os.environ.get("NEW_SECRET") is None
            assert provider.written == {"in-use": 1}
