"""How the sandbox behaves when nothing is wrong: when transfers settle, whether message statuses are reported."""

from typing import Annotated, Any, Literal

import msgspec

from sandbox.database import Database
from sandbox.faults import WAIT_SECONDS_MAX
from sandbox.web import RefusedError

Seconds = float
# A month: longer than any bank gives.
DISPUTE_HOURS_MAX = 720


class Switches(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """`transfer_fees`: `standard` debits the gateway's fee with each transfer, and returns it with the money; `none`
    debits none. `transfer_settlement`: `auto` settles after `transfer_delay_seconds`, `manual` waits for a control
    call, `immediate` returns `success` at once, `otp` returns `otp` and waits for the code. `refund_settlement`: `auto`
    or `manual`. `transfer_minimum_minor`: the smallest transfer, in kobo. `charge_fees`: `standard` deducts the fee of
    a local charge from the balance, `unreported` too, but omits it from the webhook; `none` deducts nothing.
    `transfer_account_seconds`: the life of the account of a charge by bank transfer; 0: as requested, from 15 minutes
    to 8 hours. `dispute_hours`: the time to respond to a dispute. `messaging_template_review`: `auto` approves a
    template at once, `manual` waits for a control call. `flutterwave_signature`: the secret hash itself, or an HMAC of
    the body with it. `clock_skew_seconds`: the difference of the `Date` of all responses to the true time; positive:
    ahead.
    """

    transfer_settlement: Literal["auto", "manual", "immediate", "otp"] = "auto"
    transfer_delay_seconds: Seconds = 0.2
    transfer_minimum_minor: Annotated[int, msgspec.Meta(ge=1)] = 10_000
    transfer_fees: Literal["none", "standard"] = "none"
    refund_settlement: Literal["auto", "manual"] = "auto"
    refund_delay_seconds: Seconds = 0.2
    charge_fees: Literal["none", "standard", "unreported"] = "none"
    transfer_account_seconds: Annotated[Seconds, msgspec.Meta(ge=0, le=WAIT_SECONDS_MAX)] = 0.0
    dispute_hours: Annotated[float, msgspec.Meta(gt=0, le=DISPUTE_HOURS_MAX)] = 24.0
    flutterwave_signature: Literal["hash", "hmac"] = "hash"
    messaging_statuses: bool = False
    messaging_status_delay_seconds: Seconds = 0.2
    messaging_template_review: Literal["auto", "manual"] = "auto"
    sms_receipts: bool = True
    sms_receipt_delay_seconds: Seconds = 0.2
    clock_skew_seconds: Annotated[float, msgspec.Meta(ge=-WAIT_SECONDS_MAX, le=WAIT_SECONDS_MAX)] = 0.0


def read_switches(database: Database) -> Switches:
    stored = database.read_setting("switches")
    return Switches() if stored is None else msgspec.json.decode(stored, type=Switches)


def change_switches(database: Database, current: Switches, changes: dict[str, Any]) -> Switches:
    """Change the named switches and store them; raises RefusedError 400 for an unknown name or value."""
    try:
        changed = msgspec.convert({**msgspec.to_builtins(current), **changes}, Switches)
    except msgspec.ValidationError as problem:
        raise RefusedError(400, str(problem)) from None
    delays = (
        changed.transfer_delay_seconds,
        changed.refund_delay_seconds,
        changed.messaging_status_delay_seconds,
        changed.sms_receipt_delay_seconds,
    )
    if not all(0 <= delay <= WAIT_SECONDS_MAX for delay in delays):
        raise RefusedError(400, f"A delay must be from 0 to {WAIT_SECONDS_MAX} seconds")
    database.save_setting("switches", msgspec.json.encode(changed).decode())
    return changed
