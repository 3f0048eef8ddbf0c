"""Staff on call stop all dispatches; the stop expires, or is lifted."""

from datetime import timedelta
from uuid import uuid4

import pytest

from common.primitives.clock import iso
from testkit.responses import CONFLICT, FORBIDDEN, INVALID, STEP_UP_REQUIRED, data_of, error_of
from testkit.sandbox import Sandbox

from .conftest import Scenario
from .staff import Staff

STOP = "/api/stops/dispatch"


@pytest.fixture
def staff(scenario: Scenario, sandbox: Sandbox) -> Staff:
    return Staff(scenario, sandbox)


def stop_of(scenario: Scenario, hours: float = 2):
    expires = iso(scenario.clock.now() + timedelta(hours=hours))
    return {"reason": "the bank doubles transfers", "message": "Payouts pause until noon.", "expiresAt": expires}


async def act(staff: Staff, body, path: str = STOP, role: str = "ops_oncall", **how):
    return await staff.post(path, staff.operator, role, body, **how)


async def test_a_stopped_dispatch_skips_every_payout_until_it_is_lifted(scenario: Scenario, staff: Staff) -> None:
    payout_id = await scenario.payout(await scenario.ready_vendor(1_000), 1_000)
    stop = data_of(await act(staff, stop_of(scenario)), 201)
    skipped = data_of(await scenario.dispatch(uuid4()))
    assert skipped["skipped"] == [{"payoutId": payout_id, "reason": "dispatch_stopped"}]
    shown = data_of(await staff.get(STOP, "auditor"))
    assert (shown["operation"], shown["current"], shown["earlier"]) == ("dispatch", stop, [])
    assert error_of(await act(staff, stop_of(scenario))) == CONFLICT
    lifted = data_of(await act(staff, {"reason": "the bank repaired it"}, f"{STOP}/lift"))
    assert (lifted["id"], lifted["liftReason"]) == (stop["id"], "the bank repaired it")
    assert error_of(await act(staff, {"reason": "again"}, f"{STOP}/lift")) == CONFLICT
    assert data_of(await scenario.dispatch(uuid4()))["submitted"] == 1


async def test_a_stop_expires_by_itself(scenario: Scenario, staff: Staff) -> None:
    await scenario.payout(await scenario.ready_vendor(1_000), 1_000)
    data_of(await act(staff, stop_of(scenario)), 201)
    scenario.clock.advance(timedelta(hours=2))
    assert data_of(await staff.get(STOP, "auditor"))["current"] is None
    assert data_of(await scenario.dispatch(uuid4()))["submitted"] == 1


async def test_only_staff_on_call_stop_dispatch(scenario: Scenario, staff: Staff) -> None:
    for role in ("finance_maker", "finance_checker", "auditor", "platform_admin", "support_agent"):
        assert error_of(await act(staff, stop_of(scenario), role=role)) == FORBIDDEN
    assert error_of(await act(staff, stop_of(scenario), stepped_up=False)) == STEP_UP_REQUIRED
    for hours in (-1, 0, 25):
        assert error_of(await act(staff, stop_of(scenario, hours))) == INVALID
