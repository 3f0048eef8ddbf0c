"""Each line of doctor is produced by a fault: one of the sandbox, or a setting of the services."""

import ast
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from operations.doctor import edge, examination, gateway, mail, messages, run, servers, settings
from operations.doctor.findings import Finding
from operations.doctor.run import CHECKS

from .conftest import DKIM_SELECTOR, FLUTTERWAVE_KEY, PRODUCTION, Sandbox, findings_of, heal
from .plants import ACCOUNT_SID, PLANTS, TEMPLATE, Plant

MODULES: tuple[ModuleType, ...] = (edge, examination, gateway, mail, messages, run, servers, settings)
# A check that the clock needs: it compares the times of earlier responses.
CLOCK_NEEDS = "model"

Site = tuple[str, int]
"""A call of `fault` or `warning` in doctor's source: file and line."""


def sites() -> set[Site]:
    found = set()
    for path in Path(str(run.__file__)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("fault", "warning"):
                found.add((path.name, node.lineno))
    return found


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> set[Site]:
    """Return the sites that were called since the test started."""
    called: set[Site] = set()

    def recording(original: Any) -> Any:
        def record(*arguments: str) -> Finding:
            caller = sys._getframe(1)
            called.add((Path(caller.f_code.co_filename).name, caller.f_lineno))
            found: Finding = original(*arguments)
            return found

        return record

    for module in MODULES:
        for name in {"fault", "warning"} & vars(module).keys():
            monkeypatch.setattr(module, name, recording(vars(module)[name]))
    return called


async def prepare(control: httpx.AsyncClient, sandbox: Sandbox) -> None:
    """Set up an approved template, and a balance at the second gateway: what a sound account has."""
    text = {"type": "BODY", "text": "Your order is ready to be collected today."}
    template = {"name": TEMPLATE, "language": "en", "category": "UTILITY", "components": [text]}
    account_id = sandbox.environment()["MESSAGING_BUSINESS_ACCOUNT_ID"]
    assert (await control.post(f"/messaging/v21.0/{account_id}/message_templates", json=template)).is_success
    payment = {
        "tx_ref": "doctor-flutterwave", "amount": 5000, "currency": "NGN", "redirect_url": sandbox.url,
        "customer": {"email": "buyer@unilag.edu.ng"},
    }  # fmt: skip
    headers = {"Authorization": f"Bearer {FLUTTERWAVE_KEY}"}
    assert (await control.post("/flutterwave/v3/payments", json=payment, headers=headers)).is_success
    assert (await control.post("/control/charges/doctor-flutterwave/pay", json={})).is_success


def environment_of(plant: Plant, sandbox: Sandbox, changes: dict[str, str]) -> dict[str, str]:
    if plant.check == "settings":
        return {**PRODUCTION, **changes}
    environment = sandbox.environment()
    if plant.shape:
        user = {"africas_talking": "campus", "twilio": ACCOUNT_SID}[plant.shape]
        address = sandbox.url.replace("//", f"//{user}@")
        environment |= {"SMS_SHAPE": plant.shape, "SMS_API_URL": f"{address}/sms"}
    return environment | {name: text.replace("PORT", str(sandbox.submission_port)) for name, text in changes.items()}


async def examine(plant: Plant, sandbox: Sandbox, *, is_planted: bool) -> list[Finding]:
    environment = environment_of(plant, sandbox, plant.settings if is_planted else {})
    skews: dict[str, float] = {}
    more: dict[str, Any] = {"resolver": sandbox.resolver(), "tls": sandbox.trust(), "skews_seconds": skews}
    more |= {"resolves_hosts": True, "dkim_selectors": plant.selectors if is_planted else (DKIM_SELECTOR,)}
    if plant.check == "clock" and not (is_planted and plant.is_alone):
        await findings_of(CLOCK_NEEDS, environment, **more)
    return await findings_of(plant.check, environment, **more)


async def call(control: httpx.AsyncClient, calls: tuple[tuple[str, str, Any], ...]) -> None:
    """Make the calls; the word RECIPIENT is replaced by the code that an earlier one returned."""
    recipient = ""
    for method, path, document in calls:
        if isinstance(document, dict) and document.get("recipient") == "RECIPIENT":
            document = {**document, "recipient": recipient}
        reply = await control.request(method, path, json=document)
        assert reply.is_success, (path, reply.text)
        if path.endswith("/transferrecipient"):
            recipient = reply.json()["data"]["recipient_code"]


async def walk(plant: Plant, sandbox: Sandbox, control: httpx.AsyncClient) -> None:
    before = await examine(plant, sandbox, is_planted=False)
    expected_before = {"ok"} if plant.shape != "africas_talking" else {"ok", "warning"}
    assert {finding.state for finding in before} <= expected_before, (plant, before)
    if plant.rules:
        assert (await control.put("/control/faults", json=plant.rules)).is_success, plant
    await call(control, plant.calls)
    after = await examine(plant, sandbox, is_planted=True)
    shown = [finding for finding in after if (finding.state, finding.subject) == (plant.state, plant.subject)]
    assert any(plant.found in finding.found and plant.advice in finding.advice for finding in shown), (plant, after)
    await heal(control)
    await call(control, plant.after)


async def test_every_line_of_doctor_has_a_fault_that_produces_it(
    sandbox: Sandbox, control: httpx.AsyncClient, reached: set[Site]
) -> None:
    await prepare(control, sandbox)
    for plant in PLANTS:
        await walk(plant, sandbox, control)
    assert {plant.check for plant in PLANTS} == set(CHECKS)
    assert sites() - reached == set(), "lines of doctor without a fault that produces them"
