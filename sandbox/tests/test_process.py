import asyncio
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from sandbox.settings import SettingsError, read_settings
from testkit.fixtures import eventually

from .conftest import Receiver

REQUIRED = {
    "PORT", "SMTP_PORT", "STATE_DIR", "GATEWAY_SECRET_KEY", "WEBHOOK_URL", "MESSAGING_WEBHOOK_URL",
    "MESSAGING_APP_SECRET", "BASE_URL",
}  # fmt: skip


async def test_the_start_names_every_missing_variable_at_once() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sandbox", env={"PATH": os.environ["PATH"]}, stderr=asyncio.subprocess.PIPE
    )
    _, output = await process.communicate()
    assert process.returncode == 2
    assert {name for name in REQUIRED if f"{name} is missing" in output.decode()} == REQUIRED


def test_all_invalid_values_of_the_environment_are_named_at_once() -> None:
    environment = dict.fromkeys(REQUIRED, "x") | {"OPENING_BALANCE_MINOR": "-5"}
    with pytest.raises(SettingsError) as problem:
        read_settings(environment)
    for name in ("PORT", "SMTP_PORT", "WEBHOOK_URL", "MESSAGING_WEBHOOK_URL", "BASE_URL", "OPENING_BALANCE_MINOR"):
        assert f"- {name} must" in str(problem.value)


async def test_the_process_stops_on_sigterm_with_a_hanging_call(environment: dict[str, str]) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "sandbox",
        env={**os.environ, **environment, "ACCESS_LOG": "1"},
        stderr=asyncio.subprocess.PIPE,
    )
    async with httpx.AsyncClient(
        base_url=environment["BASE_URL"], headers={"Authorization": "Bearer sk_test_current"}, timeout=60
    ) as client:

        async def ready():
            try:
                return (await client.get("/health")).status_code == 200
            except httpx.TransportError:
                return False

        await eventually(ready)
        await client.put("/control/faults", json={"verify_call": {"timeout": True}})
        hanging = asyncio.create_task(client.get("/gateway/transaction/verify/none"))
        body = {"to": "2348012345678", "from": "Campus", "sms": "PIN 482913", "api_key": "k-secret"}
        assert (await client.post("/sms/api/sms/send", json=body)).status_code == 200
        process.send_signal(signal.SIGTERM)
        # The hanging call alone would last ten minutes.
        _, output = await asyncio.wait_for(process.communicate(), 60)
        await asyncio.gather(hanging, return_exceptions=True)
    log = output.decode()
    assert "/sms/api/sms/send" in log
    assert "482913" not in log
    assert "k-secret" not in log


async def test_a_restart_delivers_pending_webhooks(
    environment: dict[str, str], receiver: Receiver, running_sandbox: Callable[..., Any]
) -> None:
    reachable = dict(environment)
    dead_end = {**environment, "WEBHOOK_URL": "http://127.0.0.1:9/gateway-webhook"}
    async with running_sandbox(dead_end) as first:
        await first.charge("order-1", 500_000)
        await first.settings_are(transfer_settlement="auto", transfer_delay_seconds=0.5)
        await first.transfer("po-0000000000000001", 100_000)
        await first.fault(sms={"fail": "down"})

        async def tried():
            return [webhook for webhook in await first.webhooks() if webhook["attempts"]]

        await eventually(tried)
    async with running_sandbox(reachable) as second:
        assert await second.balance() == 400_000
        assert (await second.initialize("order-1")).status_code == 400
        assert (await second.transfer("po-0000000000000001", 100_000)).status_code == 400
        await eventually(lambda: receiver.events("charge.success") and receiver.events("transfer.success"))
        assert await second.transfer_status("po-0000000000000001") == "success"
        assert (await second.client.get("/control/faults")).json() == {"sms": [{"fail": "down"}]}
        assert (await second.ledger())["movements"] == 2


async def test_the_sandbox_imports_nothing_of_the_marketplace() -> None:
    ours = {
        "common",
        "contracts",
        "providers",
        "identity",
        "orders",
        "payments",
        "payouts",
        "notifications",
        "api_gateway",
        "operations",
        "campus_tools",
        "testkit",
        "lab",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import sandbox.app, sys; print(*sys.modules)", stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await process.communicate()
    loaded = {name.partition(".")[0] for name in printed.decode().split()}
    assert "sandbox" in loaded
    assert loaded.isdisjoint(ours)
