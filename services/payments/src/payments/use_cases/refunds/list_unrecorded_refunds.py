"""Find refunds of a charge that only the gateway has recorded, before another one is sent."""

from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from common.auth.caller import THE_SERVICE
from common.database.unit_of_work import Database
from payments.clients.gateway import Gateways
from payments.domain.identifiers import attempt_of_reference
from payments.domain.refunds import RETURNED_STATUSES, RefundUpdate
from payments.store.reconciliation import find_recorded_refund
from payments.store.refund_attempts import RefundAttempt


class UnrecordedRefunds(NamedTuple):
    """The unfailed refunds of a charge that are not recorded: with the attempt of ours that they are, and those made
    outside.
    """

    ours: list[tuple[UUID, RefundUpdate]]
    outside: list[RefundUpdate]


async def list_unrecorded_refunds(database: Database, gateways: Gateways, attempt: RefundAttempt) -> UnrecordedRefunds:
    """Those of ours have our note, and their attempt has no row, or is this one: they were sent after the instant to
    which the database was restored. One whose gateway shows no note, and whose id is not recorded, counts as the
    attempt's.

    Raises GatewayUnavailable, GatewayRejected and MalformedEvent.
    """
    updates = await gateways.of(attempt.gateway).list_refunds(attempt.transaction)
    found = UnrecordedRefunds([], [])
    # The gateway accepts a transfer's reference only once.
    is_transfer = attempt.recipient_code is not None
    async with database.unit_of_work(acting_as=THE_SERVICE) as uow:
        for update in updates:
            if update.status in RETURNED_STATUSES:
                continue
            attempt_id = attempt_of_reference(update.note)
            is_recorded = await find_recorded_refund(uow, attempt_id, update.gateway_refund_id) is not None
            if update.is_anonymous and not is_recorded:
                # It may be the one of a call of ours whose response was lost.
                attempt_id = attempt.id
            if attempt_id is None and not is_recorded:
                of_charge = replace(update, transaction_reference=attempt.charge_reference)
                found.outside.append(replace(of_charge, transaction_id=attempt.charge_gateway_id))
            elif attempt_id is not None and not is_transfer and (attempt_id == attempt.id or not is_recorded):
                found.ours.append((attempt_id, update))
    return found
