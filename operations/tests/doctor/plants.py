"""The faults that doctor can find, each with what plants it and the line that it then prints."""

from dataclasses import dataclass, field
from typing import Any

CLOSED = "http://127.0.0.1:9"
ACCOUNT_SID = "AC" + "0" * 32
TEMPLATE = "order_ready"

Call = tuple[str, str, Any]
"""Method, path and JSON document of a call to the sandbox."""


@dataclass(frozen=True)
class Plant:
    """A fault: `rules` of the sandbox, `calls` to its control paths or `settings` of the services plant it.

    Every line of the check is `ok` before. With the fault the line of `subject` has the state, and contains `found`;
    its advice contains `advice`. `after` are calls that remove what `heal` does not.
    """

    check: str
    subject: str
    found: str
    advice: str
    state: str = "fault"
    rules: dict[str, Any] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    after: tuple[Call, ...] = ()
    settings: dict[str, str] = field(default_factory=dict)
    shape: str = ""
    selectors: tuple[str, ...] = ("s1",)
    is_alone: bool = False
    """The check does not run after others that it needs."""


def state_of(kind: str, name: str, state: str) -> dict[str, Any]:
    return {kind: {"match": name, "fail": state}}


def account(name: str, state: str) -> dict[str, Any]:
    return state_of("account", name, state)


def control(path: str, document: Any, method: str = "PUT") -> tuple[Call, ...]:
    return ((method, f"/control/{path}", document),)


def _review(action: str) -> tuple[Call, ...]:
    return control(f"messaging/templates/{TEMPLATE}/{action}", {}, "POST")


def _setting(name: str, text: str, advice: str, found: str = "is not set", state: str = "fault") -> Plant:
    return Plant("settings", name, found, advice, state, settings={name: text})


SETTINGS = (
    _setting("GATEWAY_SECRET_KEY", "", "set the live secret key"),
    _setting("SMS_FALLBACK_API_URL", "", "set a second SMS company", state="warning"),
    _setting("SMS_RECEIPT_KEY", "", "delivery receipts", state="warning"),
    _setting("ON_CALL_URL", "", "set the receiver of alerts", state="warning"),
    _setting("RATE_LIMIT_STORE_URL", "", "set a Redis or Valkey", state="warning"),
    _setting("MEDIA_S3_ENDPOINT", "", "set an S3 store", state="warning"),
    _setting("VAPID_PRIVATE_KEY", "", "browsers receive no push", state="warning"),
    _setting("FCM_SERVICE_ACCOUNT", "", "apps receive no push", state="warning"),
    _setting("MESSAGING_API_URL", "", "the messaging app is not used", state="warning"),
    _setting("GATEWAY_API_URL", "http://sandbox:8080/gateway", "provider's own address", "this machine, the sandbox"),
    _setting("GATEWAY_API_URL", "https://payment-gateway.example", "provider's own address", "an example"),
    _setting("GATEWAY_API_URL", "https://10.0.0.7", "provider's own address", "10.0.0.7"),
    _setting("SMS_API_URL", "http://api.ng.termii.com", "use https", "is not encrypted"),
    _setting("GATEWAY_SIGNATURE_HEADER", "", ("set "
    "GATEWAY_SIGNATURE_HEADER=x-paystack-signature"), "x-gateway-signature"),
    _setting("SMS_API_KEY", "", "set the API key", "is the default"),
    _setting("MAIL_FROM", "", "your own domain", "is the default"),
    _setting("VAPID_SUBJECT", "", "your own domain", "is the default"),
    _setting("MESSAGING_API_TOKEN", "", "permanent token", "is the default"),
    _setting("MESSAGING_PHONE_NUMBER_ID", "", "id of your phone number", "is the default"),
    _setting("MESSAGING_BUSINESS_ACCOUNT_ID", "", "id of your business account", "is the default"),
    _setting("MESSAGING_APP_SECRET", "", "as in the app's dashboard"),
    _setting("MESSAGING_VERIFY_TOKEN", "", "as in the app's dashboard"),
    _setting("DEMO_DATA", "1", "set DEMO_DATA=0", "is 1"),
    _setting("BROKER_VERIFIED_PUBLISHERS", "false", "set true", "is false"),
    _setting("BOOTSTRAP_ADMIN_EMAIL", "platform-admin@campus.example", "first administrator", "is platform-admin@"),
    _setting("WEBHOOK_ALLOW_LOOPBACK", "true", "empty it", "is on"),
    _setting("SMTP_PLAINTEXT", "true", "empty it", "is on"),
    _setting("ALLOWED_ORIGINS", "https://campus.ng,http://localhost:*", "your own pages", "any developer's machine"),
)  # fmt: skip


def _certificate(state: str, found: str, advice: str, subject: str = "certificate", result: str = "fault") -> Plant:
    return Plant("edge", subject, found, advice, result, state_of("load_balancer", "certificate", state))


_CHAIN = "install a certificate for this host with its whole chain"
EDGE = (
    _certificate("expired", "certificate has expired", _CHAIN),
    _certificate("wrong_host", "is not valid for localhost", _CHAIN),
    _certificate("unknown_authority", "unable to get", _CHAIN),
    _certificate("days=14", "is valid until", "see why it was not renewed", result="warning"),
    _certificate("days=3", "is valid until", "renew it now"),
    Plant(
        "edge", "public TLS", "is unreachable", "open port 443", rules=state_of("load_balancer", "certificate", "none")
    ),
    Plant("edge", "public TLS", "BASE_URL is http", "public https address", settings={"BASE_URL": CLOSED}),
    Plant("edge", "public address", "has no address", "add an A", rules=state_of("name_server", "address", "absent")),
    Plant("edge", "public address", "has no address", "add an A", rules=state_of("name_server", "address", "SERVFAIL")),
    Plant(
        "edge", "public address", "is 10.0.0.7", "load balancer", rules=state_of("name_server", "address", "10.0.0.7")
    ),
    *(
        Plant("edge", subject, f"sends {status}", advice, rules=state_of("load_balancer", "webhook", status))
        for status, advice in (("404", "to the API gateway, unchanged"), ("200", "stop: an unsigned webhook"))
        for subject in ("payment webhook", "Flutterwave webhook", "messaging webhook", "SMS receipts")
    ),
    Plant("edge", "payment webhook", "is unreachable", "way out of the network", settings={"BASE_URL": CLOSED}),
)

_LIST = {"match": "/gateway/transfer", "fail": "Transfers are not activated"}
_ACCOUNT = {"type": "nuban", "name": "Ada", "account_number": "0123456785", "bank_code": "058", "currency": "NGN"}
_TRANSFER = {"source": "balance", "amount": 100_000, "recipient": "RECIPIENT", "reference": "doctor-transfer-otp-1"}
GATEWAY = (
    Plant(
        "gateway", "gateway transfer OTP", "is on: a transfer waits", "switch it off",
        calls=(
            *control("settings", {"transfer_settlement": "otp"}),
            ("POST", "/gateway/transferrecipient", _ACCOUNT),
            ("POST", "/gateway/transfer", _TRANSFER),
        ),
        after=control("transfers/doctor-transfer-otp-1/fail", {}, "POST"),
    ),
    Plant(
        "gateway", "gateway key", "Invalid key", "set GATEWAY_SECRET_KEY",
        calls=control("gateway-keys", {"keys": ["sk_live_another"]}),
    ),
    Plant("gateway", "gateway key", "is not set", "set GATEWAY_API_URL", settings={"GATEWAY_SECRET_KEY": ""}),
    Plant("gateway", "gateway key", "unreachable", "check the address", settings={"GATEWAY_API_URL": CLOSED}),
    Plant(
        "gateway", "gateway key", "is a test key", "live key", settings={"GATEWAY_SECRET_KEY": "sk_test_1"},
        calls=control("gateway-keys", {"keys": ["sk_test_1"]}),
    ),
    Plant(
        "gateway", "gateway key", "neither sk_live_ nor sk_test_", "compare it", "warning",
        calls=control("gateway-keys", {"keys": ["another"]}), settings={"GATEWAY_SECRET_KEY": "another"},
    ),
    Plant("gateway", "gateway balance", "is not readable", "see its status page",
        rules={"balance_call": {"fail": "Down"}}),
    Plant("gateway", "gateway balance", "has no NGN; it has GHS", "in naira", rules=account("gateway_balance", "GHS")),
    Plant("gateway", "gateway balance", "is 0", "top it up", "warning", account("gateway_balance", "NGN 0")),
    Plant("gateway", "gateway bank list", "has 0 banks", "gateway's support", rules=account("gateway_banks", "none")),
    Plant("gateway", "gateway bank list", "is not readable", "gateway's support",
        rules={"bank_call": {"error_before": True}}),
    Plant("gateway", "gateway transfer OTP", "not readable", "activate transfers", rules={"list_call": _LIST}),
    Plant(
        "gateway", "gateway settlement", "not readable", "automatic settlement must be off", "warning",
        {"list_call": {**_LIST, "match": "/gateway/settlement"}},
    ),
    Plant("gateway", "Flutterwave key", "is rejected", "set FLUTTERWAVE_SECRET_KEY",
        rules=account("flutterwave_key", "401")),
    Plant(
        "gateway", "Flutterwave key", "is not set", "set FLUTTERWAVE_API_URL",
        settings={"FLUTTERWAVE_SECRET_KEY": "", "GATEWAY_PROVIDER": "flutterwave"},
    ),
    Plant(
        "gateway", "Flutterwave key", "is a test key", "live key",
        settings={"FLUTTERWAVE_SECRET_KEY": "FLWSECK_TEST-1"},
        calls=control("gateway-keys", {"flutterwave_keys": ["FLWSECK_TEST-1"]}),
    ),
    Plant("gateway", "Flutterwave balance", "not readable", "Nigerian business",
        rules=account("flutterwave_balance", "400")),
    Plant("gateway", "Flutterwave balance", "is 0", "top it up", "warning", account("flutterwave_balance", "0")),
    Plant("gateway", "Flutterwave bank list", "has 0 banks", "gateway's support",
        rules=account("flutterwave_banks", "none")),
    Plant("gateway", "FLUTTERWAVE_WEBHOOK_HASH", "is not set", "every webhook is rejected",
        settings={"FLUTTERWAVE_WEBHOOK_HASH": ""}),
    Plant(
        "gateway", "FLUTTERWAVE_WEBHOOK_HASH", "has only 6 characters", "32 random characters", "warning",
        settings={"FLUTTERWAVE_WEBHOOK_HASH": "secret"},
    ),
)  # fmt: skip


def _number(state: str, found: str, advice: str, result: str = "fault", subject: str = "messaging number") -> Plant:
    return Plant("messaging", subject, found, advice, result, account("messaging_number", state))


_PENDING = {
    "name": "another",
    "language": "en",
    "category": "UTILITY",
    "components": [{"type": "BODY", "text": "Hello"}],
}
MESSAGING = (
    _number("401", "Invalid OAuth access token", "permanent token", subject="messaging token"),
    _number("400", "Unsupported get request", "set MESSAGING_PHONE_NUMBER_ID"),
    _number("status=BANNED", "is BANNED", "register the number"),
    _number("status=PENDING,code_verification_status=NOT_VERIFIED", "is not verified", "verify it with the code"),
    _number("account_mode=SANDBOX", "is a test number", "your own number"),
    _number("name_status=DECLINED", "no approved display name", "another display name"),
    _number("name_status=PENDING_REVIEW", "under review", "wait for the approval", "warning"),
    _number("quality_rating=RED", "has the quality RED", "users block or report", "warning"),
    Plant(
        "messaging", "messaging templates", "not readable", "permanent token",
        rules=account("messaging_templates", "401")
    ),
    Plant("messaging", "messaging templates", "is REJECTED", "read the reason", calls=_review("reject"),
        after=_review("approve")),
    Plant("messaging", "messaging templates", "is PAUSED", "read the reason", calls=_review("pause"),
        after=_review("approve")),
    Plant("messaging", "messaging templates", "none is registered", "templates push",
        settings={"MESSAGING_LANGUAGE": "fr"}),
    Plant(
        "messaging", "messaging templates", "another is PENDING", "wait for the review", "warning",
        calls=(
            *control("settings", {"messaging_template_review": "manual"}),
            ("POST", "/messaging/v21.0/102290129340398/message_templates", _PENDING),
        ),
        after=control("messaging/templates/another/approve", {}, "POST"),
    ),
)  # fmt: skip


def _sms(subject: str, name: str, state: str, found: str, advice: str, result: str = "fault", shape: str = "") -> Plant:
    return Plant("sms", subject, found, advice, result, account(name, state), shape=shape)


_COMPANY, _SENDER = "SMS company", "SMS company's sender"
SMS = (
    _sms(_COMPANY, "termii_balance", "401", "Invalid API key", "set SMS_API_KEY"),
    _sms(_COMPANY, "termii_balance", "500", "the account is not readable", "check SMS_API_URL"),
    _sms(_COMPANY, "termii_balance", "0", "balance is 0", "no message is sent"),
    _sms(_COMPANY, "termii_balance", "120", "balance is 120", "automatic top-up", "warning"),
    _sms(_SENDER, "termii_sender", "pending", "waits for approval", "operators need some days"),
    _sms(_SENDER, "termii_sender", "blocked", "is blocked", "company's support"),
    _sms(_SENDER, "termii_sender", "absent", "is not registered", "request it"),
    _sms(_SENDER, "termii_sender", "500", "is not readable", "see Sender ID", "warning"),
    _sms(_COMPANY, "africas_talking_balance", "401", "rejects the key", "the user in", shape="africas_talking"),
    _sms(_COMPANY, "africas_talking_balance", "NGN 0.0000", "0.0000 NGN", "top up", shape="africas_talking"),
    _sms(_COMPANY, "africas_talking_balance", "none", "the balance is not readable", "dashboard", "warning",
        "africas_talking"),
    _sms(_COMPANY, "twilio_account", "401", "rejects the key", "set SMS_API_KEY", shape="twilio"),
    _sms(_COMPANY, "twilio_account", "suspended", "is suspended", "notices in the console", shape="twilio"),
    _sms(_COMPANY, "twilio_account", "trial", "is a trial account", "upgrade the account", shape="twilio"),
    _sms(_COMPANY, "twilio_balance", "3.20", "3.20 USD", "automatic top-up", "warning", "twilio"),
    _sms(_COMPANY, "twilio_balance", "500", "the balance is not readable", "see the console", "warning", "twilio"),
    Plant("sms", _SENDER, "visible in the dashboard only", "see Alphanumerics", "warning", shape="africas_talking"),
    Plant("sms", _COMPANY, "has no address", "set SMS_API_URL", settings={"SMS_API_URL": ""}),
    Plant("sms", _COMPANY, "unknown shape", "set SMS_SHAPE", settings={"SMS_SHAPE": "pigeon"}),
    Plant("sms", _COMPANY, "names no user", "write the account's user", settings={"SMS_SHAPE": "africas_talking"}),
)  # fmt: skip

_NO_KEY_FILE = {"FCM_SERVICE_ACCOUNT": "{}"}
SERVERS = (
    Plant("push", "push to apps", "not a key file", "Firebase console", settings=_NO_KEY_FILE, is_alone=True),
    Plant("push", "push to apps", "no token is issued", "Firebase console",
        rules={"push_token": {"fail": "invalid_grant"}}, is_alone=True),
    Plant("push", "push project", "rejects messages", "enable the Firebase",
        rules={"push": {"fail": "PERMISSION_DENIED"}}),
    Plant("push", "push project", "rejects messages", "set FCM_PROJECT", rules={"push": {"fail": "UNREGISTERED"}}),
    Plant("model", "language model", "Incorrect API key", "set AI_API_KEY", rules=account("language_model", "401")),
    Plant("model", "language model", "gpt-4o-mini is not among", "set AI_MODEL",
        rules=account("language_model", "other")),
    Plant("model", "language model", "not readable", "check AI_BASE_URL", "warning", account("language_model", "404")),
    Plant("storage", "image store", "AccessDenied", "permit the key", rules=account("image_store", "AccessDenied")),
    Plant("storage", "image store", "NoSuchBucket", "MEDIA_S3_BUCKET", rules=account("image_store", "NoSuchBucket")),
    Plant("storage", "image store", "has no bucket", "set MEDIA_S3_BUCKET", settings={"MEDIA_S3_BUCKET": ""}),
    Plant("storage", "image store", "is unreachable", "check MEDIA_S3_ENDPOINT",
        settings={"MEDIA_S3_ENDPOINT": CLOSED}),
    Plant("on-call", "receiver of alerts", "is settling", "logs of Alertmanager", "warning",
        account("alertmanager", "settling")),
    Plant("on-call", "receiver of alerts", "not readable", "set ON_CALL_URL", rules=account("alertmanager", "500")),
    Plant(
        "on-call", "receiver of alerts", "shows no state", "raise a test alert", "warning",
        settings={"ON_CALL_URL": "https://events.pagerduty.com/v2/enqueue"},
    ),
    Plant("clock", "clock", "differs by", "synchronise", "warning",
        calls=control("settings", {"clock_skew_seconds": 20})),
    Plant("clock", "clock", "differs by", "synchronise", calls=control("settings", {"clock_skew_seconds": -300})),
    Plant("clock", "clock", "was not compared", "run all checks", "warning", is_alone=True),
)  # fmt: skip

_SMTP, _ENCRYPTION = "mail server", "mail encryption"
MAIL = (
    Plant("mail", _ENCRYPTION, "offers no STARTTLS", "use smtps://",
        rules=state_of("mail_server", "starttls", "absent")),
    *(
        Plant("mail", _SMTP, "SSLCertVerificationError", "certificate of SMTP_URL",
            rules=state_of("mail_server", "certificate", state))
        for state in ("expired", "wrong_host", "unknown_authority")
    ),
    Plant("mail", _SMTP, "rejects user or password: 535", "set user and password",
        rules=state_of("mail_server", "login", "rejected")),
    Plant(
        "mail", "mail sender", "no-reply@campus.ng is rejected: 553 5.7.1", "verify the domain of MAIL_FROM",
        rules=state_of("mail_server", "sender", "553 5.7.1 Sender is not verified"),
    ),
    Plant("mail", _SMTP, "has no address", "set SMTP_URL", settings={"SMTP_URL": ""}),
    Plant("mail", _SMTP, "no user is set", "write user and password", "warning", settings={"SMTP_URL": "smtp+starttls://localhost:PORT"}),
    Plant("mail", _SMTP, "unreachable", "cloud networks often block", settings={"SMTP_URL": "smtps://127.0.0.1:9"}),
    Plant(
        "mail", _ENCRYPTION, "is not encrypted", "empty SMTP_PLAINTEXT",
        settings={"SMTP_URL": "smtp://campus:p@localhost:PORT", "SMTP_PLAINTEXT": "true"},
    ),
    Plant(
        "mail", _SMTP, "offers no sign-in", "port for submission",
        settings={"SMTP_URL": "smtp://campus:p@localhost:PORT", "SMTP_PLAINTEXT": "true"},
    ),
    Plant("mail", "settings", "malformed", "correct the address", settings={"SMTP_URL": "smtp://mail.ng:many"},
        is_alone=True),
)  # fmt: skip


def _record(name: str, records: str, found: str, advice: str, result: str = "fault") -> Plant:
    subject = {"mx": "MX", "spf": "SPF", "dkim": "DKIM", "dmarc": "DMARC"}[name]
    return Plant("dns", subject, found, advice, result, state_of("name_server", name, records))


DNS = (
    _record("mx", "absent", "has no MX record", "publish an MX record"),
    _record("mx", "0 .", "receives no mail", "publish an MX record"),
    _record("spf", "absent", "has 0 records", "publish one TXT record"),
    _record("spf", "v=spf1 -all\nv=spf1 ~all", "has 2 records", "publish one TXT record"),
    _record("spf", "v=spf1 +all", "permits every server", "-all or ~all"),
    _record("spf", "v=spf1 include:mail.example ?all", "rejects no other server", "-all or ~all", "warning"),
    _record("dkim", "absent", "s1 has no record", "publish the record"),
    _record("dkim", "v=DKIM1; p=", "is revoked", "the present key"),
    _record("dmarc", "something else", "has 0 records", "publish one TXT record of _dmarc"),
    _record("dmarc", "v=DMARC1; rua=mailto:x@campus.ng", "has no policy", "add p=quarantine"),
    _record("dmarc", "v=DMARC1; p=none", "the policy none", "set p=quarantine", "warning"),
    Plant("dns", "DKIM", "was not checked", "--dkim-selector", "warning", selectors=()),
    Plant("dns", "mail domain", "NoNameservers", "check the name servers",
        rules=state_of("name_server", "spf", "SERVFAIL"), is_alone=True),
    Plant("dns", "mail domain", "has no domain", "set MAIL_FROM", settings={"MAIL_FROM": "Campus"}, is_alone=True),
)  # fmt: skip

_CHARGE = {"email": "buyer@unilag.edu.ng", "amount": 500_000, "reference": "doctor-charge"}
SETTLEMENT = (
    Plant(
        "gateway", "gateway settlement", "was settled to a bank account", "switch automatic settlement off",
        calls=(
            ("POST", "/gateway/transaction/initialize", _CHARGE),
            *control("charges/doctor-charge/pay", {}, "POST"),
            *control("settlements", {}, "POST"),
        ),
    ),
)  # fmt: skip
"""No call ends this fault: it is planted last."""

PLANTS = (*SETTINGS, *EDGE, *GATEWAY, *MESSAGING, *SMS, *SERVERS, *MAIL, *DNS, *SETTLEMENT)
