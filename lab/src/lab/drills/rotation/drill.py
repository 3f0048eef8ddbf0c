"""Rotate every secret of a running system by the commands of the runbooks, under load without failed requests.

The system has two instances of each API process behind balancers, as on Kubernetes. The drill shortens only the overlap
of old and new, which is 1,800 s in the runbooks: a signing key is retired when its last token has expired, after 18
minutes.
"""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from campus_tools.launcher.ports import free_port_base
from lab.drills.containers import runtime_of
from lab.drills.doubled import doubled_system
from lab.drills.inside_tls import InsideTls, encrypted_servers
from lab.drills.language_model import model_company
from lab.drills.load import loaded
from lab.drills.rotation.compromise import revoke_compromised
from lab.drills.rotation.environment import DrillEnvironment, EncryptedSystem, log
from lab.drills.rotation.failures import DrillFailed
from lab.drills.rotation.rotations import ALL, rotate
from lab.report import Report
from lab.systems import NO_QUOTA, NO_TRACING, clients_of, seconds_since_start, stopped_at_the_end
from operations.journey import Marketplace
from operations.secrets import new_key


async def drill_rotation(
    folder: Path, *, overlap_seconds: float, compromised: bool, only: list[str] | None, images: Path | None
) -> Report:
    """Rotate the chosen secrets, or revoke a compromised key: no request fails and every old secret is rejected."""
    async with AsyncExitStack() as stack:
        company = await stack.enter_async_context(model_company(f"ai_drill_{new_key()}"))
        log("starting the system, two instances of each API process")
        # An order of the drill is about 1,000 kobo.
        environment = {**NO_QUOTA, **NO_TRACING, "PAYOUT_TRANSFER_MINIMUM_MINOR": "1"}
        environment |= {"AI_BASE_URL": company.url, "AI_API_KEY": next(iter(company.keys))}
        runtime = stack.enter_context(runtime_of(images))
        chosen = [] if compromised else only or [name for name in ALL if images is None or name != "certificates"]
        encrypted, port_base = None, free_port_base()
        if "certificates" in chosen:
            encrypted = await _encrypted(folder, port_base, stack)
        doubled = await stack.enter_async_context(
            doubled_system(
                str(folder / "state"),
                environment,
                port_base,
                runtime=runtime,
                servers=encrypted.servers.given if encrypted else None,
                inside=encrypted.inside if encrypted else None,
            )
        )
        stack.enter_context(doubled.rolling_by_signal())
        market = await stack.enter_async_context(clients_of(doubled.system, patient=False))
        lowered = await market.sandbox.put("/control/settings", json={"transfer_minimum_minor": 1})
        lowered.raise_for_status()
        problems = []
        async with loaded(doubled.system, market) as load:
            drill = DrillEnvironment(doubled.system, load, company, overlap_seconds, encrypted=encrypted)
            try:
                await asyncio.sleep(10)
                await (revoke_compromised(drill) if compromised else rotate(drill, chosen))
                await asyncio.sleep(5)
            except DrillFailed as error:
                problems.append(error)
        load.failures += await _webhooks_that_failed(market)
        report = Report(dict(drill.rows))
        load.record_in(report)
        report.rows["duration"] = f"{seconds_since_start():.0f} s"
        report.require_none("failed command or valid old secret", problems)
        return report


async def _encrypted(folder: Path, port_base: int, stack: AsyncExitStack) -> EncryptedSystem:
    """Start servers that serve TLS; they stop with the stack."""
    inside = InsideTls(folder / "tls")
    servers = encrypted_servers(folder / "servers", port_base, inside, log)
    await stack.enter_async_context(stopped_at_the_end(servers.running))
    await asyncio.to_thread(servers.running.start)
    return EncryptedSystem(inside, servers)


async def _webhooks_that_failed(market: Marketplace) -> list[str]:
    """Return the sandbox's webhooks that were not accepted at the first attempt."""
    response = await market.sandbox.get("/control/webhooks", params={"target": "gateway", "limit": 1000})
    listed: list[dict[str, Any]] = response.raise_for_status().json()
    return [
        (
            f"{attempt['attempted_at']} webhook {row['event']} of the sandbox: {attempt['status_code']} "
            f"{attempt['failure'] or ''}"
        )
        for row in listed
        for attempt in row["attempts"]
        if attempt["status_code"] != 200
    ]
