"""Certificates of services and servers, and their authority, are replaced without a failed request."""

import asyncio
import time
from typing import Final

from lab.drills.inside_tls import serves_from
from lab.drills.rotation.environment import DrillEnvironment, expect, log
from lab.drills.rotation.failures import DrillFailed
from testkit.certificates import Authority

# Erlang caches the files of a listener for two minutes.
SERVED_SECONDS_MAX: Final = 400.0


async def rotate_certificates(drill: DrillEnvironment) -> None:
    """docs/runbooks/rotate-certificates.md"""
    if drill.encrypted is None:
        raise DrillFailed("The system has no certificates.")
    inside, servers = drill.encrypted.inside, drill.encrypted.servers
    ports = servers.ports | {process.name: process.port for process in drill.system.processes if process.is_encrypted}
    old, new = inside.authority, Authority()
    expect(await _serving(ports, old) == list(ports), "a server has no certificate of the authority at the start")
    log("  both authorities are trusted")
    inside.trust(old, new)
    log("  new certificates")
    inside.authority, started = new, time.monotonic()
    inside.replace_certificates()
    await servers.reload()
    waiting = list(ports)
    while waiting := [name for name in waiting if name not in await _serving(ports, new)]:
        if time.monotonic() - started > SERVED_SECONDS_MAX:
            raise DrillFailed(f"{', '.join(waiting)} still serve the former certificate")
        await asyncio.sleep(1)
    seconds = time.monotonic() - started
    log("  the former authority is trusted no more; every process connects again")
    inside.trust(new)
    rolled = await drill.ctl("rotation", "roll", "--every")
    former = await _serving(ports, old)
    expect(not former, f"{', '.join(former)} serve a certificate of the former authority")
    drill.record(
        "certificates: served by the former authority, by the new one, all after",
        f"{len(former)}, {len(await _serving(ports, new))} of {len(ports)}, {seconds:.0f} s",
    )
    drill.record("processes that connected anew with the new authority alone", str(len(rolled["rolled"])))


async def _serving(ports: dict[str, int], authority: Authority) -> list[str]:
    """Return the names of the servers that present a certificate of the authority."""
    return [
        name
        for name, port in ports.items()
        if await asyncio.to_thread(serves_from, port, authority, is_postgresql=name == "postgresql")
    ]
