"""Steps of webhook endpoints: their requests, and rounds of sending."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx

from common.primitives.ids import new_id

from ..conftest import Scenario

ENDPOINTS = "/api/webhook-endpoints"
DISPATCHED, COMPLETED = "orders.order_dispatched.v1", "orders.order_completed.v1"


def vendor(scenario: Scenario, vendor_id: UUID | None = None, **claims: Any) -> dict[str, str]:
    """Return the headers of the scenario's vendor, or of another one, with a second factor."""
    owned = {"roles": ("buyer", "merchant"), "vendor_id": vendor_id or scenario.vendor_id, "stepped_up": True}
    return scenario.headers(scenario.owner_id, **{**owned, **claims})


def admin(scenario: Scenario) -> dict[str, str]:
    return scenario.headers(new_id(), roles=("platform_admin",), stepped_up=True)


async def create(scenario: Scenario, url: str, *types: str, headers: dict[str, str] | None = None) -> dict[str, Any]:
    body = {"url": url, "eventTypes": list(types or (DISPATCHED,))}
    response = await scenario.client.post(ENDPOINTS, json=body, headers=headers or vendor(scenario))
    assert response.status_code == 201, response.text
    data: dict[str, Any] = response.json()["data"]
    return data


async def patch(scenario: Scenario, endpoint: dict[str, Any], **body: Any) -> httpx.Response:
    return await scenario.client.patch(f"{ENDPOINTS}/{endpoint['id']}", json=body, headers=vendor(scenario))


async def replay(scenario: Scenario, endpoint: dict[str, Any], **body: Any) -> httpx.Response:
    return await scenario.client.post(f"{ENDPOINTS}/{endpoint['id']}/replay", json=body, headers=vendor(scenario))


async def deliveries(scenario: Scenario, endpoint: dict[str, Any]) -> list[dict[str, Any]]:
    path = f"{ENDPOINTS}/{endpoint['id']}/deliveries"
    response = await scenario.client.get(path, headers=vendor(scenario))
    assert response.status_code == 200, response.text
    data: list[dict[str, Any]] = response.json()["data"]
    return data


async def send(scenario: Scenario) -> int:
    sent: int = await scenario.dependencies.webhook_sender.run_once()
    return sent


async def send_after(scenario: Scenario, **delay: float) -> int:
    scenario.clock.advance(timedelta(**delay))
    return await send(scenario)


def invalid(response: httpx.Response) -> dict[str, str]:
    assert response.status_code == 422, response.text
    return {param["name"]: param["reason"] for param in response.json()["invalid_params"]}


async def send_test(scenario: Scenario, endpoint: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    return await scenario.client.post(f"{ENDPOINTS}/{endpoint['id']}/test", headers=headers)
