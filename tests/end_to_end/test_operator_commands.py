"""The operators' command line against the running system: signed in with two factors, and from the machine itself."""

import asyncio
import itertools
import json
import os
import subprocess
import sys
import time

import pyotp

from campus_tools.launcher.system import System
from operations.campusctl.commands.on_the_machine import Service
from operations.journey import Marketplace
from tests.end_to_end.command_line import CommandLine, cli_of_the_machine


async def test_an_operator_signs_in_reads_and_checks_the_ledgers(market: Marketplace, system: System) -> None:
    environment = {
        "STATE_DIR": str(system.state_dir),
        "PORT_BASE": str(system.port_base),
        "CAMPUS_URL": system.base_url,
        "CAMPUS_PASSWORD": system.secrets["DEMO_PASSWORD"],
    }
    cli = CommandLine(environment)
    # The first as a process of its own: its start alone costs a second of CPU.
    ended = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "operations.campusctl.app", "exceptions", "list", "--json"],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, json.loads(ended.stdout)["error"]["advice"]) == (1, "Sign in again: campusctl login")

    secret = pyotp.TOTP(system.secrets["DEMO_TOTP_OPS"])
    steps = itertools.cycle([1, 0, -1])

    async def signed_in():
        one_time = CommandLine({**environment, "CAMPUS_TOTP": secret.at(int(time.time()) + 30 * next(steps))})
        code, output = await one_time.call("login", "ops@campus.example")
        return output["data"] if code == 0 else None

    # A code works once, and others of this run are ops too.
    assert (await market.until("a fresh code", signed_in, 150, every=1))["aal"] == "aal2"
    kept = system.state_dir / "campusctl.json"
    assert kept.stat().st_mode & 0o777 == 0o600

    assert isinstance(await cli.done("exceptions", "list", "--limit", "5"), list)
    for service in Service:
        assert isinstance(await cli.done("dead-letters", "list", service.value), list)
    assert isinstance(await cli.done("alerts", "list"), list)
    assert isinstance(await cli.done("webhooks", "dead", "list"), list)
    assert (await cli.done("quotas", "show"))["remaining"] >= 0
    assert await cli.done("keys", "show")
    unknown_id = "00000000-0000-7000-8000-000000000000"
    code, output = await cli.call("exceptions", "show", unknown_id)
    assert (code, output["error"]["status"], output["error"]["code"]) == (1, 404, "RESOURCE_NOT_FOUND")
    assert output["error"]["requestId"].startswith("req_")
    code, output = await cli.call("staff", "grant", unknown_id, "auditor")
    assert (code, output["error"]["status"]) == (1, 403)

    code, output = await cli.call("audit")
    assert (code, output["ok"]) == (0, True), [line for line in output["data"] if not line["holds"]]
    ledgers = await cli.done("ledger", "verify")
    assert [(ledger["book"], ledger["holds"]) for ledger in ledgers] == [("payments", True), ("payouts", True)]
    code, output = await cli.call("ledger", "verify", "payments", "--length", "1000000", "--head", "00" * 32)
    assert (code, output["ok"], output["data"][0]["holds"]) == (4, False, False)
    period = ("--from", "2026-01-31T00:00:00Z", "--to", "2026-02-01T00:00:00Z")
    assert "cases open" in (await cli.done("service", "payments", "reconcile", *period))["said"]
    assert (await cli.call("service", "orders", "nonsense"))[0] == 2
    code, output = await cli.call("staff", "bootstrap", "nobody@campus.example", "--yes")
    assert (code, output["ok"]) == (1, False)

    code, output = await cli.call(
        "doctor", "--only", "settings", "--only", "edge", "--only", "gateway", "--only", "push"
    )
    states = {(line["subject"], line["state"]) for line in output["data"]}
    assert (code, output["ok"]) == (4, False)
    # The real edge rejects unsigned webhooks; a system of development is no system in production.
    assert {("payment webhook", "ok"), ("messaging webhook", "ok"), ("SMS receipts", "ok")} <= states
    assert {("gateway bank list", "ok"), ("push token", "ok"), ("push project", "ok")} <= states
    assert {("GATEWAY_API_URL", "fault"), ("DEMO_DATA", "fault"), ("public TLS", "fault")} <= states

    await cli.done("logout")
    assert json.loads(kept.read_text()) == {}


async def test_the_status_shows_every_part_of_the_machine(system: System) -> None:
    _, output = await cli_of_the_machine(system).call("status")
    states = {row["subject"]: row["state"] for row in output["data"]}
    assert states.keys() >= {"outboxes", "alerts", "audit", "disk of state", "certificate"}
    # Other tests raise alerts, and leave no backup.
    assert {states[part] for part in ("services", "processes", "PostgreSQL", "RabbitMQ")} == {"ok"}, output["data"]
    assert states["backup"] == "warning"
