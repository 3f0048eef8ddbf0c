"""Settings that are defaults, values of the sandbox, or missing."""

from typing import Final
from urllib.parse import urlsplit

from common.primitives.provider_addresses import PROVIDER_ADDRESSES, is_of_development
from operations.doctor.examination import DEFAULTS, Examination
from operations.doctor.findings import Finding, fault, ok, warning

PAYSTACK_HOST: Final = "api.paystack.co"
PAYSTACK_SIGNATURE_HEADER: Final = "x-paystack-signature"

_ADDRESSES: Final = (*PROVIDER_ADDRESSES, "SMTP_URL", "ON_CALL_URL", "AI_BASE_URL", "MEDIA_S3_ENDPOINT")
"""Addresses of providers: a host of this machine, of the sandbox or of an example is no provider."""

_REQUIRED: Final = {
    "GATEWAY_API_URL": "set the payment gateway's address",
    "GATEWAY_SECRET_KEY": "set the live secret key of the payment gateway; without it every webhook is 401",
    "SMS_API_URL": "set the address of the SMS company",
    "SMTP_URL": "set the mail server, with user and password",
}
_ADVISED: Final = {
    "SMS_FALLBACK_API_URL": "set a second SMS company: PINs and codes wait while the first one fails",
    "SMS_RECEIPT_KEY": "set it: without delivery receipts a lost PIN uses the next channel late",
    "ON_CALL_URL": "set the receiver of alerts: without it they are in the log and in GET /api/alerts only",
    "RATE_LIMIT_STORE_URL": "set a Redis or Valkey: without it each process counts quotas by itself",
    "MEDIA_S3_ENDPOINT": "set an S3 store: with a folder, all processes of a service must share one disk",
    "VAPID_PRIVATE_KEY": "set it, or browsers receive no push messages",
    "FCM_SERVICE_ACCOUNT": "set it, or apps receive no push messages",
    "MESSAGING_API_URL": "set it, or the messaging app is not used",
}
_NOT_THE_DEFAULT: Final = {
    "SMS_API_KEY": "set the API key of the SMS company",
    "MAIL_FROM": "set a sender of your own domain",
    "VAPID_SUBJECT": "set a contact address of your own domain; push services write to it",
}
_WITH_THE_MESSAGING_APP: Final = {
    "MESSAGING_API_TOKEN": "set a permanent token of a system user",
    "MESSAGING_PHONE_NUMBER_ID": "set the id of your phone number; the default is an example of the documentation",
    "MESSAGING_BUSINESS_ACCOUNT_ID": "set the id of your business account; the default is an example",
}
_OF_DEVELOPMENT: Final = (
    ("DEMO_DATA", "1", "set DEMO_DATA=0: demo users have a password that this machine's operators know"),
    ("BROKER_VERIFIED_PUBLISHERS", "false", "set true: messages of any broker account would be accepted"),
    ("BOOTSTRAP_ADMIN_EMAIL", "platform-admin@campus.example", "set the address of your first administrator"),
)
_OFF: Final = {
    "WEBHOOK_ALLOW_LOOPBACK": "empty it: webhooks could call this machine",
    "OIDC_ALLOW_LOOPBACK": "empty it: an identity provider without TLS could sign staff in",
    "SMTP_PLAINTEXT": "empty it: mails contain codes and links that sign users in",
}
_ON: Final = frozenset({"1", "true", "yes", "on"})


async def check_settings(examination: Examination) -> list[Finding]:
    """Compare the environment with values that a production system cannot have."""
    findings = [*_missing(examination), *_addresses(examination), *_defaults(examination), *_development(examination)]
    return findings or [ok("settings", "no default, sandbox or development value where production needs another")]


def _missing(examination: Examination) -> list[Finding]:
    value = examination.value
    return [
        *(fault(name, "is not set", advice) for name, advice in _REQUIRED.items() if not value(name)),
        *(warning(name, "is not set", advice) for name, advice in _ADVISED.items() if not value(name)),
    ]


def _addresses(examination: Examination) -> list[Finding]:
    findings = []
    for name in _ADDRESSES:
        address = urlsplit(examination.value(name))
        if address.hostname and is_of_development(address.hostname):
            advice = "set the provider's own address"
            findings.append(fault(name, f"{address.hostname} is this machine, the sandbox or an example", advice))
        elif address.scheme == "http":
            findings.append(fault(name, "the connection is not encrypted", "use https"))
    header = examination.value("GATEWAY_SIGNATURE_HEADER")
    host = urlsplit(examination.value("GATEWAY_API_URL")).hostname
    if host == PAYSTACK_HOST and header.lower() != PAYSTACK_SIGNATURE_HEADER:
        advice = (
            f"set GATEWAY_SIGNATURE_HEADER={PAYSTACK_SIGNATURE_HEADER}: every webhook of Paystack is 401 without it"
        )
        findings.append(fault("GATEWAY_SIGNATURE_HEADER", f"is {header}", advice))
    return findings


def _defaults(examination: Examination) -> list[Finding]:
    names = dict(_NOT_THE_DEFAULT)
    if examination.value("MESSAGING_API_URL"):
        names |= _WITH_THE_MESSAGING_APP
    findings = [
        fault(name, "is the default", advice)
        for name, advice in names.items()
        if examination.value(name) == DEFAULTS[name]
    ]
    if examination.value("MESSAGING_API_URL"):
        findings += [
            fault(name, "is not set", "set it as in the app's dashboard: without it every webhook is rejected")
            for name in ("MESSAGING_APP_SECRET", "MESSAGING_VERIFY_TOKEN")
            if not examination.value(name)
        ]
    return findings


def _development(examination: Examination) -> list[Finding]:
    findings = [
        fault(name, f"is {text}", advice)
        for name, text, advice in _OF_DEVELOPMENT
        if examination.value(name).lower() == text
    ]
    findings += [
        fault(name, "is on", advice) for name, advice in _OFF.items() if examination.value(name).lower() in _ON
    ]
    if any(f"//{host}" in examination.value("ALLOWED_ORIGINS") for host in ("localhost", "127.0.0.1")):
        findings.append(
            fault("ALLOWED_ORIGINS", "permits pages of any developer's machine", "list your own pages only")
        )
    return findings
