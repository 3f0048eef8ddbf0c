"""Steps that several tests of the service share."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from common.primitives.ids import new_id
from contracts.payments import ChargeDisputed, EscrowRefunded
from payouts.domain.transfer_updates import TransferUpdate
from payouts.timers import process_due_transfers_once, request_scheduled_payouts_once
from payouts.use_cases.transfers.record_transfer_update import record_transfer_update
from testkit.events import vendor_event as profile_event
from testkit.responses import data_of
from testkit.sandbox import Sandbox

from .conftest import Scenario, Vendor
from .staff import AMOUNT, transfer_event

QUARANTINE_REASON = "The bank says that the name is another"
RELEASE_REASON = "The bank confirmed the owner by letter"
FINDING = {"severity": "SEV-1", "cause": "bank_switch_error", "note": "The bank told us on the telephone."}
FIRST_WAIT = timedelta(seconds=60)
DAILY = {"frequency": "daily"}


async def quarantine_account(scenario, vendor, payout_id=None, *, headers=None, **changes):
    body = {"reason": QUARANTINE_REASON, "payoutId": payout_id, **changes}
    return await scenario.client.post(
        f"/api/vendors/{vendor.id}/bank-details/quarantine", json=body, headers=headers or scenario.maker()
    )


async def quarantined_account(scenario, vendor, payout_id=None):
    data = data_of(await quarantine_account(scenario, vendor, payout_id))
    assert (data["verified"], data["quarantined"], data["quarantineReason"]) == (False, True, QUARANTINE_REASON)
    return data["payout"] and data["payout"]["restitution"]


async def prepare_release(scenario, vendor, role: str = "finance_maker", by: Any = None, **options: Any):
    path = f"/api/vendors/{vendor.id}/bank-details/release"
    return await scenario.post_as(path, {"reason": RELEASE_REASON}, role, by, **options)


async def decide_release(
    scenario, release, verb: str = "approve", role: str = "finance_checker", by: Any = None, **options: Any
):
    body = options.pop("body", {"hash": release["hash"]} if verb == "approve" else {"reason": "Say more"})
    return await scenario.post_as(f"/api/bank-detail-releases/{release['id']}/{verb}", body, role, by, **options)


async def prepared_release(scenario: Scenario, sandbox: Sandbox) -> tuple[Vendor, dict[str, Any]]:
    """Return a vendor with a quarantined account of its own, and the prepared release."""
    vendor = await scenario.ready_vendor(10_000, await sandbox.new_account())
    data_of(await quarantine_account(scenario, vendor))
    return vendor, data_of(await prepare_release(scenario, vendor), 201)


def charge_disputed(vendor: Any, order_id: Any, **changes: Any) -> ChargeDisputed:
    values = {
        "order_id": order_id,
        "buyer_id": new_id(),
        "vendor_id": vendor.id,
        "amount_minor": 1_000,
        "chargeback_id": new_id(),
        "remaining_minor": 0,
        "remaining_vendor_minor": 0,
        **changes,
    }
    return ChargeDisputed(**values)


class Attempt:
    """A payout under way, and the gateway's reports of it."""

    def __init__(self, scenario, vendor, payout_id, reference):
        self.scenario, self.vendor, self.payout_id, self.reference = scenario, vendor, payout_id, reference

    async def receive(self, event, reason="Account number is invalid", amount_minor=AMOUNT):
        update = transfer_event(
            event, self.reference, amount_minor=amount_minor, gateway_event_id=str(new_id()), reason=reason
        )
        await self.scenario.receive(update)

    async def exception(self):
        [listed] = await list_exceptions(self.scenario, payoutId=self.payout_id, sort="created_at", limit=1)
        return await read_exception(self.scenario, listed["id"])


async def sent_payouts(scenario: Scenario, count=1, *, amount_minor=AMOUNT):
    """Return payouts of as many vendors, under way in one batch."""
    vendors = [await scenario.ready_vendor(amount_minor) for _ in range(count)]
    payouts = {await scenario.payout(vendor, amount_minor): vendor for vendor in vendors}
    response = await scenario.dispatch(new_id_v4(), payoutIds=list(payouts))
    return [
        Attempt(scenario, payouts[transfer["payoutId"]], transfer["payoutId"], transfer["reference"])
        for transfer in response.json()["data"]["transfers"]
    ]


def new_id_v4():
    return UUID(bytes=new_id().bytes, version=4)


async def list_exceptions(scenario: Scenario, role="ops_oncall", **query):
    headers = scenario.headers(scenario.operator_id, roles=(role,))
    return data_of(await scenario.client.get("/api/payout-exceptions", params=query, headers=headers))


async def read_exception(scenario: Scenario, exception_id):
    headers = scenario.headers(scenario.operator_id, roles=("ops_oncall",))
    return data_of(await scenario.client.get(f"/api/payout-exceptions/{exception_id}", headers=headers))


async def act_on_exception(scenario: Scenario, exception_id, verb, *, role="ops_oncall", by=None, **body):
    headers = scenario.headers(by or scenario.operator_id, roles=(role,))
    return await scenario.client.post(f"/api/payout-exceptions/{exception_id}/{verb}", json=body, headers=headers)


async def receive_update(scenario: Scenario, reference, update_source, status):
    async with scenario.unit_of_work() as uow:
        return await record_transfer_update(
            uow, reference, TransferUpdate(update_source, status, AMOUNT, "NGN"), scenario.clock.now()
        )


async def skip_reason(scenario: Any, payout_id: str) -> str | None:
    """Return why a dispatch skips the payout; None when it was sent."""
    batch = (await scenario.dispatch(uuid4(), payoutIds=[payout_id])).json()["data"]
    assert batch["submitted"] + len(batch["skipped"]) == 1, batch
    return batch["skipped"][0]["reason"] if batch["skipped"] else None


def escrow_refunded(vendor: Any, minor: int, /, **changes: Any) -> EscrowRefunded:
    """Return a refund of so many kobo from the vendor's earnings."""
    values = {
        "order_id": new_id(),
        "buyer_id": new_id(),
        "vendor_id": vendor.id,
        "refund_id": new_id(),
        "amount_minor": minor,
        "from_vendor_minor": minor,
        "remaining_minor": 0,
        "remaining_vendor_minor": 0,
        **changes,
    }
    return EscrowRefunded(**values)


async def put_schedule(scenario: Scenario, vendor, body, *, stepped_up=True, of=None):
    return await scenario.client.put(
        f"/api/vendors/{of or vendor.id}/payout-schedule",
        json=body,
        headers=scenario.headers(vendor.owner, **vendor.claims(stepped_up=stepped_up)),
    )


async def run_schedules(scenario: Scenario, minimum_minor=1):
    return await request_scheduled_payouts_once(scenario.database, minimum_minor, scenario.clock)


async def scheduled_payouts(scenario: Scenario, vendor):
    return await scenario.fetch("SELECT * FROM scheduled_payouts WHERE vendor_id = $1 ORDER BY period", vendor.id)


def vendor_event(event, vendor, **more):
    return profile_event(event, vendor.id, vendor.owner, legal_name=vendor.legal_name, **more)


async def run_worker_once(scenario: Scenario, gateways=None):
    """One round of the worker."""
    dependencies = scenario.dependencies
    await process_due_transfers_once(dependencies.database, gateways or dependencies.gateways, scenario.clock)
