"""The delivery attempts of one order, for staff (contract section 12.2)."""

from typing import Any

import pytest

from common.primitives.ids import new_id
from contracts.orders import OrderDispatched

from ..conftest import Scenario

LOGS = "/api/notification-delivery-logs"


async def logs(scenario: Scenario, role: str, **parameters: Any) -> list[dict[str, Any]]:
    response = await scenario.client.get(LOGS, params=parameters, headers=scenario.headers(new_id(), roles=[role]))
    return response.json()["data"]


@pytest.mark.parametrize("role", ["support_agent", "auditor"])
async def test_staff_find_the_messages_of_an_order(full_scenario: Scenario, role: str) -> None:
    await full_scenario.project_users()
    await full_scenario.receive(full_scenario.pin())
    other = OrderDispatched(order_id=new_id(), buyer_id=full_scenario.buyer_id, vendor_id=full_scenario.vendor_id)
    await full_scenario.receive(other)
    await full_scenario.send_queued()
    of_order = await logs(full_scenario, role, orderId=str(full_scenario.order_id))
    assert {row["template"] for row in of_order} == {"delivery_pin"}
    assert {row["template"] for row in await logs(full_scenario, role)} == {"delivery_pin", "order_dispatched"}
    assert await logs(full_scenario, role, orderId=str(new_id())) == []
    narrowed = await logs(full_scenario, role, orderId=str(other.order_id), status="sent")
    assert {row["template"] for row in narrowed} == {"order_dispatched"}
    assert await logs(full_scenario, role, orderId=str(other.order_id), channel="sms", status="bounced") == []
    to_buyer = await logs(full_scenario, role, userId=str(full_scenario.buyer_id))
    assert {row["userId"] for row in to_buyer} == {str(full_scenario.buyer_id)}
    assert await logs(full_scenario, role, userId=str(new_id())) == []


async def test_a_user_without_the_permission_reads_no_messages_of_an_order(full_scenario: Scenario) -> None:
    await full_scenario.project_users()
    headers = full_scenario.headers(full_scenario.buyer_id)
    response = await full_scenario.client.get(LOGS, params={"orderId": str(new_id())}, headers=headers)
    assert response.status_code == 403
