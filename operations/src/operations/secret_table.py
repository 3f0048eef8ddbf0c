"""Every secret of a system: name, form, purpose, readers, and its place in the store of secrets (architecture,
section 6).

`make run` and docker compose create the rows with `is_local`, `campusctl secrets new` those of a cluster. The entries
are those that the ExternalSecrets of `deploy/k8s` fetch; a test compares the two.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from operations.services import LOGINS, SERVICES, Service

STAFF_NAMES: Final = (
    "VENDOR", "VENDOR2", "HUB", "SUPPORT", "CAMPUS", "MAKER", "CHECKER", "OPS", "AUDITOR", "ADMIN",
)  # fmt: skip
"""The demo accounts with TOTP enrolled: `DEMO_TOTP_<NAME>` (product contract, section 13.4)."""

KEYS_OF_THE_IMAGE_STORE: Final = ("MEDIA_S3_ACCESS_KEY", "MEDIA_S3_SECRET_KEY", "MEDIA_S3_SESSION_TOKEN")

KEYS_OF_PURPOSES: Final = {
    "CREDENTIALS_KEY": "identity at rest",
    "CODE_DELIVERY_KEY": "identity to notifications",
    "PIN_DELIVERY_KEY": "orders to notifications",
    "ACCOUNT_NUMBER_KEY": "payouts at rest",
    "MESSAGE_KEY": "notifications at rest",
}
"""Encryption keys by purpose. On one machine they are derived from `SEALING_KEY`, which no process receives."""


class Form(StrEnum):
    """The form of a value, and thereby how a new one is made."""

    key = "32 random bytes in base64url"
    password = "48 hexadecimal digits"
    user_password = "a password with a letter, a digit and a sign"
    totp = "20 random bytes in base32"
    login = "`a` or `b`, the pair of database logins in use"
    public_keys = "Ed25519 public keys in base64url, separated by commas"
    service_account = "a Google service account in JSON"
    text = "text"
    empty = "empty until a rotation"


class Part(StrEnum):
    """Parts that not every cluster has."""

    demo = "demo accounts of a staging cluster"
    operators = "databases and broker run by operators"
    managed = "databases and broker of a provider"


@dataclass(frozen=True, slots=True)
class SecretSpec:
    """One secret. `readers` are services, `console`, `sandbox`, or a part of the cluster."""

    name: str
    """The variable of the processes, and the name in a file of supplied values. Unique within an entry."""
    form: Form
    purpose: str
    readers: tuple[str, ...]
    entries: tuple[str, ...] = ()
    """Entries of the store. A value of several entries differs in each. Empty: no cluster has it."""
    stored_as: str = ""
    """Its name within the entry, where that is not `name`."""
    is_local: bool = True
    """Whether `make run` and docker compose have it in `secrets.env`."""
    has_previous: bool = False
    """Whether the entry also has `<name>_PREVIOUS`, empty until a rotation."""
    issued_by: str = ""
    """Who issues it in production, and where. Empty: it is made."""
    is_optional: bool = False
    """Whether an issued one may be empty."""
    in_staging: str | None = ""
    """The value of an issued one in a staging cluster: made for the sandbox when empty; None: issued there too."""
    only_in: Part | None = None
    """The part of a cluster without which it is not needed."""

    @property
    def key(self) -> str:
        """The name of the value within its entry."""
        return self.stored_as or self.name


def password_variable(role: str) -> str:
    """Return the variable of a database role's or broker user's password."""
    return f"{role.upper()}_PASSWORD"


def broker_account(service: Service) -> str:
    """Return the name used for the password of a service's broker account; the account has the service's name."""
    return f"broker_{service.import_name}"


def login_variable(service: Service) -> str:
    """Return the variable that holds the login in use by a service, `a` or `b`."""
    return f"{service.database.upper()}_LOGIN"


def subscriber_account(team: str) -> str:
    """Return the broker account of a subscribing team."""
    return f"subscriber_{team.replace('-', '_')}"


def _of_a_database(service: Service) -> Iterator[SecretSpec]:
    """Yield the login in use, the owner's password, and of each role the passwords of both logins."""
    entries = (f"campus/{service.name}-database",)
    used, idle = LOGINS
    yield SecretSpec(
        login_variable(service), Form.login, "database logins in use", (service.name,), entries, stored_as="login"
    )
    yield SecretSpec(
        password_variable(service.owner_role), Form.password, "database owner, for migrations",
        (f"{service.name}-migrate",), entries, stored_as="owner",
    )  # fmt: skip
    for role in service.running_roles:
        kind = role.removeprefix(f"{service.database}_")
        readers = (service.name,)
        yield SecretSpec(
            password_variable(role), Form.password, f"database role {kind}", readers, entries, f"{kind}_{used}"
        )
        yield SecretSpec(
            password_variable(f"{role}_next"), Form.password, f"idle login of database role {kind}", readers, entries,
            f"{kind}_{idle}", is_local=False,
        )  # fmt: skip


def _of_the_broker() -> Iterator[SecretSpec]:
    entries = ("campus/broker",)
    for service in SERVICES:
        yield SecretSpec(
            password_variable(broker_account(service)), Form.password, "broker account", (service.name,), entries,
            service.name,
        )  # fmt: skip
    for account, purpose, reader in (
        ("topology", "broker account that declares the queues", "broker-topology"),
        ("scaling", "broker account that reads the lengths of the queues", "autoscaling"),
    ):
        yield SecretSpec(
            password_variable(f"broker_{account}"), Form.password, purpose, (reader,), entries, account, is_local=False,
            only_in=Part.operators,
        )  # fmt: skip
    yield SecretSpec(
        password_variable(subscriber_account("demo")), Form.password, "broker account of the subscribing team demo",
        ("subscriber",), entries, subscriber_account("demo"),
    )  # fmt: skip


_PAYSTACK: Final = "Paystack's dashboard: Settings, API Keys & Webhooks"
_FLUTTERWAVE: Final = "Flutterwave's dashboard: Settings, API keys and Webhooks; empty without this gateway"
_MESSAGING: Final = "the messaging app's dashboard at Meta"
_OBJECT_STORE: Final = "the object store: a key for this bucket alone"
_ENCRYPTED: Final = "encryption key: "

SECRETS: Final = (
    SecretSpec(
        "GATEWAY_SECRET_KEY", Form.key, "calls to the payment gateway, and its webhooks",
        ("payments", "payouts", "sandbox", "audit"), ("campus/gateway",), has_previous=True, issued_by=_PAYSTACK,
    ),
    SecretSpec(
        "FLUTTERWAVE_SECRET_KEY", Form.key, "calls to the second payment gateway",
        ("payments", "payouts", "sandbox", "audit"), ("campus/gateway",), issued_by=_FLUTTERWAVE, is_optional=True,
    ),
    SecretSpec(
        "FLUTTERWAVE_WEBHOOK_HASH", Form.key, "webhooks of the second payment gateway", ("payments", "sandbox"),
        ("campus/gateway",), has_previous=True, issued_by=_FLUTTERWAVE, is_optional=True,
    ),
    SecretSpec(
        "SERVICE_ROLE_KEY", Form.key, "callers of the functions", ("identity", "payments", "notifications", "audit"),
        ("campus/service-role",), has_previous=True,
    ),
    SecretSpec(
        "SEALING_KEY", Form.key, "root of the encryption keys on one machine; on a cluster the key of the release "
        "before "
        "each purpose had its own", ("identity", "orders", "payouts", "notifications"),
    ),
    *(
        SecretSpec(f"SEALING_KEY{ending}", Form.empty, "key that all services shared before each purpose had its own",
                   ("identity", "orders", "payouts", "notifications"), ("campus/sealing",), is_local=False)
        for ending in ("", "_PREVIOUS")
    ),
    SecretSpec(
        "PIN_KEY", Form.key, f"{_ENCRYPTED}delivery PINs at rest", ("orders",), ("campus/orders",), has_previous=True
    ),
    *(
        SecretSpec(name, Form.key, f"{_ENCRYPTED}{KEYS_OF_PURPOSES[name]}", readers, (entry,), is_local=False,
                   has_previous=True)
        for name, readers, entry in (
            ("CREDENTIALS_KEY", ("identity",), "campus/identity"),
            ("CODE_DELIVERY_KEY", ("identity", "notifications"), "campus/code-delivery"),
            ("PIN_DELIVERY_KEY", ("orders", "notifications"), "campus/pin-delivery"),
            ("ACCOUNT_NUMBER_KEY", ("payouts",), "campus/payouts"),
            ("MESSAGE_KEY", ("notifications",), "campus/notifications"),
        )
    ),
    SecretSpec(
        "CURSOR_KEY", Form.key, "signature of list cursors",
        ("identity", "orders", "payments", "payouts", "notifications"),
        ("campus/identity", "campus/orders", "campus/payments", "campus/payouts", "campus/notifications"),
    ),
    SecretSpec(
        "CONSOLE_KEY", Form.key, "session cookies of the console", ("console",), ("campus/console",), has_previous=True
    ),
    SecretSpec(
        "MESSAGING_VERIFY_TOKEN", Form.key, "handshake of the messaging app's webhook; enter it in its dashboard",
        ("notifications",), ("campus/messaging",),
    ),
    SecretSpec(
        "MESSAGING_APP_SECRET", Form.key, "webhooks of the messaging app", ("notifications", "sandbox"),
        ("campus/messaging",), issued_by=f"{_MESSAGING}: app settings, basic",
    ),
    SecretSpec(
        "MESSAGING_API_TOKEN", Form.key, "calls to the messaging app", ("notifications",), ("campus/messaging",),
        is_local=False, issued_by=f"{_MESSAGING}: permanent token of a system user",
    ),
    SecretSpec(
        "SMS_RECEIPT_KEY", Form.key, "delivery receipts of the SMS companies; a part of the address entered there",
        ("notifications", "sandbox"), ("campus/providers",),
    ),
    SecretSpec(
        "SMS_API_KEY", Form.key, "calls to the SMS company", ("notifications",), ("campus/providers",), is_local=False,
        issued_by="Termii's dashboard",
    ),
    SecretSpec(
        "SMS_FALLBACK_API_KEY", Form.key, "calls to the second SMS company", ("notifications",), ("campus/providers",),
        is_local=False, issued_by="Africa's Talking's dashboard; empty without it", is_optional=True,
    ),
    SecretSpec(
        "SMTP_URL", Form.text, "mail server with its account", ("notifications",), ("campus/providers",),
        is_local=False,
        issued_by="the mail provider, as smtps://user:password@host:465", in_staging="smtp://sandbox:2525",
    ),
    SecretSpec(
        "ON_CALL_KEY", Form.key, "routing key of the on-call receiver", ("notifications",), ("campus/providers",),
        is_local=False, issued_by="PagerDuty: integration of the service; any text for Alertmanager",
    ),
    # Nearly any 32 bytes are a valid private number of P-256.
    SecretSpec("VAPID_PRIVATE_KEY", Form.key, "web push", ("notifications",), ("campus/providers",)),
    SecretSpec(
        "FCM_SERVICE_ACCOUNT", Form.service_account, "push to apps", ("notifications",), ("campus/providers",),
        issued_by="Firebase: a service account with the role Firebase Cloud Messaging API Admin, its JSON in one line",
    ),
    # Any 32 bytes are a valid Ed25519 private key.
    SecretSpec(
        "RELEASE_SIGNING_KEY", Form.key, "signature of releases to vendors", ("payments",), ("campus/payments",)
    ),
    SecretSpec(
        "RELEASE_VERIFY_KEYS", Form.public_keys, "verifies releases to vendors", ("payouts",), ("campus/payouts",)
    ),
    SecretSpec(
        "AI_API_KEY", Form.key, "calls to the language model", ("notifications",), ("campus/assistant",),
        issued_by="the language model's provider; empty with the built-in assistant", is_optional=True, in_staging=None,
    ),
    *(
        SecretSpec(name, Form.key, "image store", ("orders", "notifications"), entries, issued_by=_OBJECT_STORE,
                   in_staging=None)
        for name, entries in zip(KEYS_OF_THE_IMAGE_STORE, (("campus/media",), ("campus/media",), ()), strict=True)
    ),
    SecretSpec(
        "OIDC_PROVIDERS", Form.text, "sign-in of staff by institutions' identity providers", ("identity",),
        ("campus/identity",), is_local=False, issued_by="the institutions' identity providers; empty without any",
        is_optional=True, in_staging=None,
    ),
    SecretSpec(
        "BOOTSTRAP_ADMIN_EMAIL", Form.text, "first platform_admin", ("identity",), ("campus/identity",),
        issued_by="you: the mail address of the first administrator", in_staging="platform-admin@campus.example",
    ),
    SecretSpec(
        "BOOTSTRAP_ADMIN_PASSWORD", Form.user_password, "first platform_admin, until the first sign-in", ("identity",),
        ("campus/identity",),
    ),
    SecretSpec(
        "DEMO_PASSWORD", Form.user_password, "demo accounts", ("identity",), ("campus/demo",), only_in=Part.demo
    ),
    *(
        SecretSpec(f"DEMO_TOTP_{name}", Form.totp, "second factor of a demo account", ("identity",), ("campus/demo",),
                   only_in=Part.demo)
        for name in STAFF_NAMES
    ),
    SecretSpec(
        "BACKUP_ACCESS_KEY_ID", Form.key, "backups of the databases", ("databases",), ("campus/backups",),
        "ACCESS_KEY_ID", is_local=False, issued_by=_OBJECT_STORE, in_staging=None, only_in=Part.operators,
    ),
    SecretSpec(
        "BACKUP_SECRET_ACCESS_KEY", Form.key, "backups of the databases", ("databases",), ("campus/backups",),
        "SECRET_ACCESS_KEY", is_local=False, issued_by=_OBJECT_STORE, in_staging=None, only_in=Part.operators,
    ),
    SecretSpec(
        "DNS_TOKEN", Form.key, "DNS records that prove the ownership of the domain to the certificate authority",
        ("cert-manager",), ("campus/dns",), "token", is_local=False,
        issued_by="Cloudflare: API token, Zone:Zone:Read and Zone:DNS:Edit on this zone alone", in_staging=None,
    ),
    *(row for service in SERVICES for row in _of_a_database(service)),
    SecretSpec(
        password_variable("campus_audit"), Form.password, "read-only database account of the audit", ("audit",),
        ("campus/managed",), "AUDIT_PASSWORD", only_in=Part.managed,
    ),
    SecretSpec(
        password_variable("campus_audit"), Form.password, "read-only database account of the audit", ("audit",),
        ("campus/orders-database", "campus/payments-database", "campus/payouts-database"), "audit", is_local=False,
        only_in=Part.operators,
    ),
    *(
        SecretSpec(f"MANAGED_{name}", Form.text, purpose, (reader,), ("campus/managed",), name, is_local=False,
                   issued_by=issuer, in_staging=None, only_in=Part.managed)
        for name, purpose, reader, issuer in (
            ("POSTGRES", "address of the managed PostgreSQL", "services", "its provider, as HOST:5432"),
            ("BROKER", "address of the managed RabbitMQ", "services", "its provider, as HOST:5671"),
            ("DATABASE_URL", "administrator of PostgreSQL, for the Job provision", "provision",
             "its provider, as postgresql://USER:PASSWORD@HOST:5432/postgres?sslmode=verify-full"
             "&sslrootcert=/etc/campus/authorities/root.pem"),
            ("BROKER_URL", "administrator of RabbitMQ, for the Job provision", "provision",
             "its provider, as amqps://USER:PASSWORD@HOST:5671/"),
            ("BROKER_MANAGEMENT_URL", "management API of RabbitMQ, for the Job provision", "provision",
             "its provider, as https://USER:PASSWORD@HOST"),
        )
    ),
    *_of_the_broker(),
)  # fmt: skip


def secrets_of_process(reader: str) -> tuple[str, ...]:
    """Return the names of the variables with secrets that `make run` and docker compose give to a reader."""
    return tuple(
        row.name
        for row in SECRETS
        if reader in row.readers and not _is_of_a_server(row) and (row.is_local or row.name in KEYS_OF_PURPOSES)
    )


def _is_of_a_server(row: SecretSpec) -> bool:
    """Return whether a process has the value only as a part of an address."""
    return row.form in (Form.login, Form.password)
