"""Results of a gateway's response for a payout."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from payouts.domain.errors import GatewayKeyRejected, GatewayUnavailable
from payouts.domain.found_transfers import ListedTransfer
from payouts.domain.gateway_results import Refused, Reported, Unclear
from payouts.domain.transfer_updates import TransferUpdate, UpdateSource
from payouts.domain.transitions import Report
from providers.calls import GatewayApi, GatewayResponse, NoResponse
from providers.records import Transfer
from providers.wire import Value

# Statuses that reject the request itself. Any other failure (rate limit, bad key, server error) leaves the outcome
# open.
DEFINITE: Final = frozenset({400, 404, 422})


async def read(api: GatewayApi, path: str, params: Mapping[str, int | str] | None = None) -> GatewayResponse:
    """Return the response to a read. Raises GatewayUnavailable for anything but a success."""
    try:
        response = await api.send("GET", path, params=params)
    except NoResponse as error:
        raise GatewayUnavailable from error
    if response.rejects_key:
        raise GatewayKeyRejected
    if not response.is_success:
        raise GatewayUnavailable
    return response


def rejected(response: GatewayResponse) -> Refused | Unclear:
    """Return what a response other than a success means. A proxy's 404 rejects nothing."""
    if response.status not in DEFINITE or not response.is_own_error:
        return Unclear(f"answered {response.status}")
    return Refused(response.message or f"refused with {response.status}")


def reported(
    source: UpdateSource, transfer: Transfer, statuses: Mapping[str, Report], reference: str
) -> Reported | Unclear:
    """Return the report in a response. A state outside the contract is unclear: no decision can rest on it."""
    status = statuses.get(transfer.status or "")
    if transfer.reference != reference:
        return Unclear("answered about another reference")
    if status is None:
        return Unclear(f"answered with the state {(transfer.status or '')[:40]!r}")
    if transfer.amount_minor is None or transfer.currency is None:
        return Unclear("answered without an amount in kobo")
    return Reported(
        TransferUpdate(
            source,
            status,
            transfer.amount_minor,
            transfer.currency,
            transfer.code,
            transfer.cause,
            fee_minor=transfer.fee_minor,
        )
    )


def listed_transfer(
    entry: Value, transfer: Transfer, statuses: Mapping[str, Report], since: datetime
) -> ListedTransfer:
    """Return a row of the list. A malformed one has no amount or no account: it becomes a case for staff."""
    digest = hashlib.sha256(json.dumps(entry, default=str, sort_keys=True).encode()).hexdigest()
    status = transfer.status or ""
    return ListedTransfer(
        reference=transfer.reference or transfer.code or f"row-{digest[:32]}",
        transfer_code=transfer.code or "",
        status=statuses.get(status, status),
        amount_minor=transfer.amount_minor or 0,
        currency=transfer.currency or "",
        account_number=transfer.account_number or "",
        bank_code=transfer.bank_code or "",
        created_at=transfer.created_at or since,
    )
