"""The accounts at the payment gateways: key, balance, bank list, transfer OTP and settlements."""

from datetime import datetime, timedelta
from typing import Any, Final

from operations.doctor.examination import Examination, Reply, rejected
from operations.doctor.findings import Finding, fault, ok, warning

CURRENCY: Final = "NGN"
# Settlements are daily where they are automatic. Older ones were made before the setting was changed.
SETTLEMENT_IS_RECENT: Final = timedelta(days=4)
BANKS_MIN: Final = 20
HASH_CHARACTERS_MIN: Final = 32
_EMPTY_BALANCE: Final = (
    "the first payouts wait until charges have been settled into the balance, or until you top it up"
)


async def check_gateways(examination: Examination) -> list[Finding]:
    """Check the gateway of GATEWAY_PROVIDER, and the other one where it has a key."""
    provider = examination.value("GATEWAY_PROVIDER") or "paystack"
    findings: list[Finding] = []
    if provider == "paystack" or examination.value("GATEWAY_SECRET_KEY"):
        findings += await _check_paystack(examination)
    if provider == "flutterwave" or examination.value("FLUTTERWAVE_SECRET_KEY"):
        findings += await _check_flutterwave(examination)
    return findings


async def _check_paystack(examination: Examination) -> list[Finding]:
    url, key = examination.url("GATEWAY_API_URL"), examination.value("GATEWAY_SECRET_KEY")
    if not url or not key:
        return [fault("gateway key", "address or key is not set", "set GATEWAY_API_URL and GATEWAY_SECRET_KEY")]
    headers = {"Authorization": f"Bearer {key}"}

    async def read(subject: str, path: str, **query: Any) -> Reply:
        return await examination.call(subject, "GET", f"{url}{path}", headers=headers, params=query)

    balance = await read("gateway key", "/balance")
    if balance.status in {401, 403}:
        advice = "set GATEWAY_SECRET_KEY to the secret key of the dashboard, under Settings, API Keys & Webhooks"
        return [fault("gateway key", f"is rejected: {rejected(balance)}", advice)]
    return [
        _mode("gateway key", "GATEWAY_SECRET_KEY", key, live="sk_live_", test="sk_test_"),
        *_balances(balance),
        _banks("gateway bank list", await read("gateway bank list", "/bank", country="nigeria", perPage=100)),
        _transfer_otp(await read("gateway transfer OTP", "/transfer", status="otp", perPage=1)),
        _settlements(await read("gateway settlement", "/settlement", perPage=1), examination.now()),
    ]


def _mode(subject: str, name: str, key: str, *, live: str, test: str) -> Finding:
    if key.startswith(test):
        advice = f"set {name} to the live key, after the registered business is approved"
        return fault(subject, "is a test key: no real money moves", advice)
    if not key.startswith(live):
        return warning(
            subject, f"is accepted, and starts with neither {live} nor {test}", "compare it with the dashboard"
        )
    return ok(subject, "is a live key, and accepted")


def _balances(reply: Reply) -> list[Finding]:
    if not reply.is_success:
        advice = "the gateway may be unavailable: see its status page, and repeat this check"
        return [fault("gateway balance", f"is not readable: {rejected(reply)}", advice)]
    balances = {str(row.get("currency")): row.get("balance") for row in reply.rows("data")}
    if CURRENCY not in balances:
        advice = "open the account for a Nigerian business: all prices are in naira"
        return [fault("gateway balance", f"has no {CURRENCY}; it has {', '.join(balances) or 'none'}", advice)]
    if not balances[CURRENCY]:
        return [warning("gateway balance", "is 0", _EMPTY_BALANCE)]
    return [ok("gateway balance", f"is readable and in {CURRENCY}")]


def _banks(subject: str, reply: Reply) -> Finding:
    number = len(reply.rows("data"))
    if not reply.is_success or number < BANKS_MIN:
        found = f"has {number} banks" if reply.is_success else f"is not readable: {rejected(reply)}"
        return fault(subject, found, "vendors cannot name their bank: write to the gateway's support")
    return ok(subject, f"has {number} banks on its first page")


def _transfer_otp(reply: Reply) -> Finding:
    subject = "gateway transfer OTP"
    if not reply.is_success:
        advice = "ask the gateway to activate transfers: they need a registered business"
        return fault(subject, f"the list of transfers is not readable: {rejected(reply)}", advice)
    if reply.rows("data"):
        advice = (
            "switch it off: Settings, Preferences, Transfers, 'Confirm transfers before sending'; payouts wait "
            "for a code"
        )
        return fault(subject, "is on: a transfer waits for its one-time password", advice)
    return ok(subject, "no transfer waits for a one-time password; the setting itself is visible in the dashboard only")


def _settlements(reply: Reply, now: datetime) -> Finding:
    subject = "gateway settlement"
    if not reply.is_success:
        advice = "see Settings, Preferences, in the dashboard: automatic settlement must be off"
        return warning(subject, f"the list of settlements is not readable: {rejected(reply)}", advice)
    latest = next((str(row.get("settlement_date") or row.get("createdAt")) for row in reply.rows("data")), "")
    if not latest:
        return ok(subject, "the balance was never settled to a bank account")
    try:
        is_recent = now - datetime.fromisoformat(latest) < SETTLEMENT_IS_RECENT
    except (ValueError, TypeError):
        is_recent = True
    if is_recent:
        advice = (
            "switch automatic settlement off (manual payouts of the balance): it empties the balance that payouts need"
        )
        return fault(subject, f"the balance was settled to a bank account on {latest[:10]}", advice)
    return ok(subject, f"the last settlement to a bank account was on {latest[:10]}")


async def _check_flutterwave(examination: Examination) -> list[Finding]:
    url, key = examination.url("FLUTTERWAVE_API_URL"), examination.value("FLUTTERWAVE_SECRET_KEY")
    if not url or not key:
        advice = "set FLUTTERWAVE_API_URL and FLUTTERWAVE_SECRET_KEY"
        return [fault("Flutterwave key", "address or key is not set", advice)]
    headers = {"Authorization": f"Bearer {key}"}
    balance = await examination.call("Flutterwave key", "GET", f"{url}/balances/{CURRENCY}", headers=headers)
    if balance.status in {401, 403}:
        advice = "set FLUTTERWAVE_SECRET_KEY to the secret key of the dashboard, under Settings, API keys"
        return [fault("Flutterwave key", f"is rejected: {rejected(balance)}", advice)]
    findings = [_mode("Flutterwave key", "FLUTTERWAVE_SECRET_KEY", key, live="FLWSECK-", test="FLWSECK_TEST-")]
    data = balance.member("data")
    if balance.is_success and isinstance(data, dict) and not data.get("available_balance"):
        findings.append(warning("Flutterwave balance", "is 0", _EMPTY_BALANCE))
    elif balance.is_success:
        findings.append(ok("Flutterwave balance", f"is readable and in {CURRENCY}"))
    else:
        advice = "open the account for a Nigerian business, or see the status page of Flutterwave"
        findings.append(fault("Flutterwave balance", f"is not readable: {rejected(balance)}", advice))
    banks = await examination.call("Flutterwave bank list", "GET", f"{url}/banks/NG", headers=headers)
    findings.append(_banks("Flutterwave bank list", banks))
    return [*findings, _webhook_hash(examination.value("FLUTTERWAVE_WEBHOOK_HASH"))]


def _webhook_hash(text: str) -> Finding:
    """Return the hash accompanies every webhook as it is: a guessed one lets others report payments."""
    subject = "FLUTTERWAVE_WEBHOOK_HASH"
    if not text:
        return fault(
            subject, "is not set", "set it to the secret hash of the dashboard: every webhook is rejected without it"
        )
    if len(text) < HASH_CHARACTERS_MIN:
        advice = f"enter at least {HASH_CHARACTERS_MIN} random characters in the dashboard, and set them here"
        return warning(subject, f"has only {len(text)} characters", advice)
    return ok(subject, "is set")
