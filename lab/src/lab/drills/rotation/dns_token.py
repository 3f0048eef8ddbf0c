"""The token for DNS records: a renewal of a certificate works at each moment of its rotation."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import yaml

from lab.drills.rotation.environment import DrillEnvironment, expect, log
from operations.rotation.dns_token import TokenRejected, check_token
from operations.secrets import new_key
from testkit.dns_provider import ZONE, DnsProvider, dns_provider
from testkit.kubernetes_api import KubernetesApi, kubernetes_api

CERTIFICATE: Final = Path(__file__).parents[5] / "deploy/k8s/components/edge/certificate.yaml"
RENEWAL_SECONDS: Final = 0.5
NAME: Final = "dns-automation-token"


async def rotate_dns_token(drill: DrillEnvironment) -> None:
    """docs/runbooks/rotate-dns-token.md, by the real kubectl, with stand-ins for API server, store and DNS provider."""
    old, new = f"old_{new_key()}", f"new_{new_key()}"
    on_cluster = ("--kubernetes", "--yes")
    with (
        tempfile.TemporaryDirectory(prefix="campus-cluster-") as folder,
        kubernetes_api(Path(folder), has_external_secrets=True) as api,
    ):
        async with dns_provider(old) as provider:
            api.store = {"campus/dns": {"token": old}}
            api.add_external_secret(_external_secret())
            drill.variables = {"KUBECONFIG": str(api.kubeconfig), "HOME": folder, "DNS_API_URL": provider.url}
            async with _renewals(api, provider) as failures:
                await _renewed(provider, old)
                log("  a second token at the provider")
                provider.tokens.add(new)
                await drill.ctl("rotation", "check-dns", "--zone", ZONE, new_secret=new)
                named = await drill.ctl("rotation", "begin", NAME, *on_cluster, may_fail=True)
                expect("entry campus/dns, property token" in str(named), f"begin does not name the store: {named}")
                log("  the new token in the store")
                api.store["campus/dns"]["token"] = new
                await drill.ctl("rotation", "roll", "--kubernetes")
                await drill.ctl("rotation", "check-dns", "--zone", ZONE, "--kubernetes")
                await _renewed(provider, new)
                log("  the old token is revoked at the provider")
                provider.tokens.remove(old)
                refused = await drill.ctl("rotation", "check-dns", "--zone", ZONE, new_secret=old, may_fail=True)
                expect("Invalid API Token" in str(refused), f"the old token is not rejected: {refused}")
                await _renewed(provider, new)
                await drill.ctl("rotation", "end", NAME, *on_cluster)
            drill.variables = {}
            expect(not failures, f"renewals failed: {failures[:3]}")
            expect(provider.records == {}, f"records of challenges remain: {provider.records}")
            drill.record(
                "DNS token: records written with the old one, with the new one, failures",
                f"{provider.written[old]}, {provider.written[new]}, 0; the old one is rejected",
            )


@asynccontextmanager
async def _renewals(api: KubernetesApi, provider: DnsProvider) -> AsyncIterator[list[str]]:
    """Write a record with the Secret's token all the time, as cert-manager does at a renewal; gives the failures."""
    failures: list[str] = []

    ended = asyncio.Event()

    async def renew() -> None:
        while not ended.is_set():
            token = api.values("dns-token")["token"]
            try:
                await asyncio.to_thread(check_token, provider.url, ZONE, token)
            except (TokenRejected, httpx.TransportError) as error:
                failures.append(str(error))
            await asyncio.sleep(RENEWAL_SECONDS)

    renewing = asyncio.create_task(renew())
    try:
        yield failures
    finally:
        ended.set()
        await renewing


async def _renewed(provider: DnsProvider, token: str) -> None:
    """Wait for two more records of this token: the second was begun after the call."""
    expected = provider.written.get(token, 0) + 2
    async with asyncio.timeout(60):
        while provider.written.get(token, 0) < expected:
            await asyncio.sleep(0.1)


def _external_secret() -> dict[str, Any]:
    documents = yaml.safe_load_all(CERTIFICATE.read_text())
    found: dict[str, Any] = next(it for it in documents if it["kind"] == "ExternalSecret")
    return found
