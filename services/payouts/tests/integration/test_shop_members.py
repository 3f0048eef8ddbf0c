"""Members of a shop read nothing of its money (decision 206)."""

import re
from typing import Any

import pytest

from campus_tools.endpoints import endpoints
from common.primitives.ids import new_id

from .conftest import Scenario

PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
CLAIMS = {
    "shop_manager": "vendor_id",
    "shop_packer": "packing_vendor_id",
}


@pytest.mark.parametrize("role", CLAIMS)
async def test_every_read_of_a_member_equals_that_of_a_buyer(scenario: Scenario, role: str) -> None:
    vendor = await scenario.ready_vendor(300_000)
    payout_id = await scenario.payout(vendor, 100_000)
    ids = {"vendor_id": vendor.id, "month": "2026-01"}
    claims: dict[str, Any] = {"roles": ("buyer", role), CLAIMS[role]: vendor.id}
    member = scenario.headers(new_id(), **claims)
    buyer = scenario.headers(new_id())
    different, compared = [], 0
    for endpoint in endpoints():
        if endpoint.service != "payouts" or endpoint.method != "GET" or endpoint.path == "/api/work":
            continue
        path = PARAMETER.sub(lambda found: str(ids.get(found[1], payout_id)), endpoint.route.path)
        shown, expected = [await scenario.client.get(path, headers=headers) for headers in (member, buyer)]
        compared += 1
        is_same = shown.status_code == expected.status_code
        if not is_same or (shown.status_code == 200 and shown.json()["data"] != expected.json()["data"]):
            different.append((path, shown.status_code, expected.status_code))
    # Own actions of a member, of which there are none.
    assert different == [("/api/staff-acts/current", 200, 403)]
    assert compared > 15
