"""The channels to users: messaging app, text messages and push to apps."""

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import jwt

from operations.doctor.examination import Examination, Reply, rejected
from operations.doctor.findings import Finding, fault, ok, warning

# In the account's own currency. A company's cheapest text message costs about 4 naira, 0.05 dollars or 2 shillings.
LOW_SMS_BALANCE: Final = {"NGN": Decimal(5_000), "USD": Decimal(10)}
TEMPLATES_PER_PAGE: Final = 200
# A business account holds at most 6,000 templates.
TEMPLATE_PAGES_MAX: Final = 30
PUSH_SCOPE: Final = "https://www.googleapis.com/auth/firebase.messaging"
TOKEN_SECONDS: Final = 600

_APP_ADVICE: Final = (
    "set MESSAGING_API_TOKEN to a permanent token of a system user with whatsapp_business_messaging and "
    "whatsapp_business_management"
)


async def check_messaging(examination: Examination) -> list[Finding]:
    """Check token, phone number and templates of the messaging app."""
    if not examination.value("MESSAGING_API_URL"):
        return [ok("messaging app", "is not used")]
    headers = {"Authorization": f"Bearer {examination.value('MESSAGING_API_TOKEN')}"}
    base = f"{examination.url('MESSAGING_API_URL')}/{examination.value('MESSAGING_API_VERSION')}"
    fields = (
        "display_phone_number,verified_name,code_verification_status,quality_rating,name_status,status,account_mode"
    )
    url = f"{base}/{examination.value('MESSAGING_PHONE_NUMBER_ID')}"
    number = await examination.call("messaging number", "GET", url, headers=headers, params={"fields": fields})
    if number.status in {401, 403}:
        return [fault("messaging token", f"is rejected: {rejected(number)}", _APP_ADVICE)]
    if not number.is_success:
        advice = "set MESSAGING_PHONE_NUMBER_ID to the id (not the number) of the app's dashboard"
        return [fault("messaging number", f"is not readable: {rejected(number)}", advice)]
    token = ok("messaging token", "is accepted")
    document = number.document if isinstance(number.document, dict) else {}
    shown = {name: value for name, value in document.items() if isinstance(value, str)}
    return [token, *_number(shown), *await _templates(examination, base, headers)]


def _number(number: dict[str, str]) -> list[Finding]:
    subject = "messaging number"
    findings = []
    if number.get("status") not in {None, "CONNECTED"}:
        advice = "register the number with the Cloud API, or see the account's warnings"
        findings.append(fault(subject, f"is {number['status']}", advice))
    if number.get("account_mode") == "SANDBOX":
        findings.append(fault(subject, "is a test number", "add your own number to the business account"))
    if number.get("code_verification_status") in {"NOT_VERIFIED", "EXPIRED"} and number.get("status") != "CONNECTED":
        findings.append(fault(subject, "is not verified", "verify it with the code that the app sends or calls"))
    if number.get("name_status") in {"DECLINED", "EXPIRED"}:
        findings.append(fault(subject, "has no approved display name", "submit another display name"))
    elif number.get("name_status") == "PENDING_REVIEW":
        findings.append(warning(subject, "has a display name under review", "wait for the approval before you go live"))
    if number.get("quality_rating") in {"RED", "YELLOW"}:
        advice = "users block or report messages: see which template, before the app limits the number"
        findings.append(warning(subject, f"has the quality {number['quality_rating']}", advice))
    return findings or [ok(subject, f"{number.get('display_phone_number', '')} is connected")]


async def _templates(examination: Examination, base: str, headers: dict[str, str]) -> list[Finding]:
    subject, account = "messaging templates", examination.value("MESSAGING_BUSINESS_ACCOUNT_ID")
    url, language = f"{base}/{account}/message_templates", examination.value("MESSAGING_LANGUAGE")
    query: dict[str, Any] = {"fields": "name,status,language", "limit": TEMPLATES_PER_PAGE}
    states: dict[str, str] = {}
    for _ in range(TEMPLATE_PAGES_MAX):
        page = await examination.call(subject, "GET", url, headers=headers, params=query)
        if not page.is_success:
            return [fault(subject, f"are not readable: {rejected(page)}", _APP_ADVICE)]
        states |= {
            str(row.get("name")): str(row.get("status")) for row in page.rows("data") if row.get("language") == language
        }
        after = _next_page(page)
        if after is None:
            break
        query["after"] = after
    return _template_states(dict.fromkeys(examination.templates, "not registered") | states, language)


def _next_page(page: Reply) -> str | None:
    paging = page.member("paging")
    cursors = paging.get("cursors") if isinstance(paging, dict) and paging.get("next") else None
    return str(cursors["after"]) if isinstance(cursors, dict) and cursors.get("after") else None


def _template_states(states: dict[str, str], language: str) -> list[Finding]:
    subject = "messaging templates"
    if not states:
        return [fault(subject, f"none is registered in {language}", "run campusctl messaging templates push")]
    others = {name: state for name, state in states.items() if state != "APPROVED"}
    findings = []
    for name, state in sorted(others.items()):
        if state in {"PENDING", "IN_APPEAL", "PENDING_DELETION"}:
            findings.append(warning(subject, f"{name} is {state}", "wait for the review, which takes up to a day"))
        else:
            advice = "read the reason with campusctl messaging templates status; its messages use the next channel"
            findings.append(fault(subject, f"{name} is {state}", advice))
    return findings or [
        ok(subject, f"{len(states)} are approved in {language}; campusctl messaging templates status compares")
    ]


async def check_sms(examination: Examination) -> list[Finding]:
    """Check account, balance and sender of both SMS companies."""
    findings = await _company(examination, "SMS company", "SMS", examination.value("SMS_SENDER"))
    if examination.value("SMS_FALLBACK_API_URL"):
        sender = examination.value("SMS_FALLBACK_SENDER") or examination.value("SMS_SENDER")
        findings += await _company(examination, "second SMS company", "SMS_FALLBACK", sender)
    return findings


async def _company(examination: Examination, subject: str, prefix: str, sender: str) -> list[Finding]:
    address, key = examination.url(f"{prefix}_API_URL"), examination.value(f"{prefix}_API_KEY")
    if not address:
        return [fault(subject, "has no address", f"set {prefix}_API_URL")]
    shape = examination.value(f"{prefix}_SHAPE")
    check = {"termii": _termii, "africas_talking": _africas_talking, "twilio": _twilio}.get(shape)
    if check is None:
        return [fault(subject, f"has the unknown shape {shape}", f"set {prefix}_SHAPE")]
    # Africa's Talking and Twilio: the account's name is part of the address.
    parts = urlsplit(address)
    user = unquote(parts.username or "")
    url = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    return await check(examination, subject, prefix, (url, user, key, sender))


Account = tuple[str, str, str, str]
"""Address without user, user, key and sender."""


async def _termii(examination: Examination, subject: str, prefix: str, account: Account) -> list[Finding]:
    url, _, key, sender = account
    query = {"api_key": key}
    balance = await examination.call(subject, "GET", f"{url}/api/get-balance", params=query)
    if not balance.is_success:
        return [_rejected_key(subject, prefix, balance)]
    findings = [_sms_balance(subject, balance.member("balance"), str(balance.member("currency") or "NGN"))]
    senders = await examination.call(subject, "GET", f"{url}/api/sender-id", params={**query, "name": sender})
    if not senders.is_success:
        advice = "see Sender ID in the dashboard"
        return [*findings, warning(f"{subject}'s sender", f"is not readable: {rejected(senders)}", advice)]
    states = {str(row.get("sender_id")): str(row.get("status")) for row in senders.rows("content", "data")}
    return [*findings, _sender(f"{subject}'s sender", sender, states.get(sender))]


def _sender(subject: str, sender: str, state: str | None) -> Finding:
    if state in {"active", "unblock"}:
        return ok(subject, f"{sender} is registered")
    if state is None:
        advice = "request it in the dashboard, with the company's registration and an example of a message"
        return fault(subject, f"{sender} is not registered", advice)
    if state == "pending":
        return fault(subject, f"{sender} waits for approval", "operators need some days; until then no message is sent")
    return fault(subject, f"{sender} is {state}", "write to the company's support, or set another sender")


async def _africas_talking(examination: Examination, subject: str, prefix: str, account: Account) -> list[Finding]:
    url, user, key, _ = account
    if not user or user == "sandbox":
        advice = f"write the account's user into the address: {prefix}_API_URL=https://USER@api.africastalking.com"
        return [fault(subject, "the address names no user, or the sandbox", advice)]
    headers = {"apiKey": key, "Accept": "application/json"}
    reply = await examination.call(subject, "GET", f"{url}/version1/user", headers=headers, params={"username": user})
    if not reply.is_success:
        return [_rejected_key(subject, prefix, reply)]
    shown = reply.member("UserData")
    match = re.fullmatch(r"([A-Z]{3}) ?(-?[0-9.,]+)", str(shown.get("balance") if isinstance(shown, dict) else ""))
    currency, amount = (match[1], match[2].replace(",", "")) if match else ("", None)
    advice = "see Alphanumerics in the dashboard: its API does not show whether the sender is approved"
    sender = warning(f"{subject}'s sender", "is visible in the dashboard only", advice)
    return [_sms_balance(subject, amount, currency), sender]


async def _twilio(examination: Examination, subject: str, prefix: str, account: Account) -> list[Finding]:
    url, sid, token, _ = account
    base = f"{url}/2010-04-01/Accounts/{sid}"
    shown = await examination.call(subject, "GET", f"{base}.json", auth=(sid, token))
    if not shown.is_success:
        return [_rejected_key(subject, prefix, shown)]
    if shown.member("status") != "active":
        return [fault(subject, f"the account is {shown.member('status')}", "see the notices in the console")]
    if shown.member("type") == "Trial":
        return [fault(subject, "is a trial account: it sends to verified numbers only", "upgrade the account")]
    balance = await examination.call(subject, "GET", f"{base}/Balance.json", auth=(sid, token))
    if not balance.is_success:
        return [warning(subject, f"the balance is not readable: {rejected(balance)}", "see the console")]
    return [_sms_balance(subject, balance.member("balance"), str(balance.member("currency")))]


def _rejected_key(subject: str, prefix: str, reply: Reply) -> Finding:
    if reply.status in {401, 403}:
        return fault(
            subject, f"rejects the key: {rejected(reply)}", f"set {prefix}_API_KEY, and the user in {prefix}_API_URL"
        )
    return fault(
        subject, f"the account is not readable: {rejected(reply)}", f"check {prefix}_API_URL and {prefix}_SHAPE"
    )


def _sms_balance(subject: str, amount: object, currency: str) -> Finding:
    try:
        balance = Decimal(str(amount))
    except InvalidOperation:
        return warning(subject, "the balance is not readable", "see the dashboard")
    found = f"accepts the key; the balance is {balance} {currency}"
    if balance <= 0:
        return fault(subject, found, "top up the account: no message is sent")
    if balance < LOW_SMS_BALANCE.get(currency, Decimal(1_000)):
        return warning(subject, found, "top up the account, and switch its automatic top-up on")
    return ok(subject, found)


async def check_push(examination: Examination) -> list[Finding]:
    """Fetch a token of the service account and validates a message without sending it."""
    subject, text = "push to apps", examination.value("FCM_SERVICE_ACCOUNT")
    if not text:
        return [ok(subject, "is not used")]
    advice = "set FCM_SERVICE_ACCOUNT to the JSON of a key of the service account, made in the Firebase console"
    try:
        account = json.loads(text)
        token_url = examination.value("FCM_TOKEN_URL") or account["token_uri"]
        assertion = _assertion(account, examination)
    except (ValueError, KeyError, TypeError, jwt.PyJWTError):
        return [fault(subject, "the service account is not a key file of Google", advice)]
    grant = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}
    issued = await examination.call(subject, "POST", token_url, data=grant)
    if not issued.is_success:
        return [fault(subject, f"no token is issued: {rejected(issued)}", advice)]
    project = examination.value("FCM_PROJECT") or account.get("project_id", "")
    return [ok("push token", "is issued"), await _validated(examination, str(issued.member("access_token")), project)]


def _assertion(account: dict[str, Any], examination: Examination) -> str:
    now = int(examination.now().timestamp())
    claims = {"iss": account["client_email"], "scope": PUSH_SCOPE, "aud": account["token_uri"]}
    claims |= {"iat": now, "exp": now + TOKEN_SECONDS}
    headers = {"kid": account["private_key_id"]}
    return jwt.encode(claims, account["private_key"], algorithm="RS256", headers=headers)


async def _validated(examination: Examination, token: str, project: str) -> Finding:
    subject = "push project"
    url = f"{examination.url('PUSH_API_URL')}/v1/projects/{project}/messages:send"
    # A dry run: FCM checks rights and content, and sends nothing. The device token is none, which is the expected
    # error.
    body = {"validate_only": True, "message": {"token": "doctor", "data": {"check": "doctor"}}}
    reply = await examination.call(subject, "POST", url, headers={"Authorization": f"Bearer {token}"}, json=body)
    error = reply.member("error")
    state = error.get("status") if isinstance(error, dict) else None
    if reply.is_success or state == "INVALID_ARGUMENT":
        return ok(subject, f"{project} accepts messages of the service account")
    if reply.status == 403:
        advice = "enable the Firebase Cloud Messaging API, and give the account cloudmessaging.messages.create"
    else:
        advice = "set FCM_PROJECT to the id of the project to which the apps belong"
    return fault(subject, f"{project} rejects messages: {rejected(reply)}", advice)
