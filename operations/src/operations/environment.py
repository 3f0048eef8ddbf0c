"""Environment of each process: addresses, its own secrets, and the documented settings of the caller.

With `ENVIRONMENT=staging` or `production` no address, account or permission of the sandbox is filled in.
"""

import os
import sys
from collections.abc import Mapping
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from operations.processes import (
    API_PORTS,
    CONSOLE_PORT,
    SANDBOX_LOAD_BALANCER_PORT,
    SANDBOX_MAIL_PORT,
    SANDBOX_NAME_SERVER_PORT,
    SANDBOX_PORT,
    SANDBOX_SUBMISSION_PORT,
    SECRETS_OF_SERVICES,
    ProcessPlan,
)
from operations.provision import service_broker_url, service_database_urls
from operations.secrets import keys_of_purposes
from operations.services import Service
from operations.subscribers import LIST

_OF_THE_MACHINE = (
    "PATH",
    "HOME",
    "LANG",
    "LC_*",
    "TZ",
    "TMPDIR",
    "VIRTUAL_ENV",
    "PYTHON*",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "FAKETIME*",
    "SSL_CERT_*",
    "REQUESTS_CA_BUNDLE",
    "*_PROXY",
    "*_proxy",
)
"""Variables of the machine: search paths, locale, time zone, proxies."""

PASSED_ON = (
    "ENVIRONMENT",
    "CELL",
    "CELLS",
    "RETRY_DELAYS_SECONDS",
    "*_KEEP_DAYS",
    "EDGE_*",
    "EVENTS_ADDRESS",
    "CLIENT_*_SECONDS_MAX",
    "BROKER_VERIFIED_PUBLISHERS",
    "NETWORK_ENCRYPTED",
    "SHUTDOWN_DRAIN_SECONDS",
    "REQUESTS_IN_FLIGHT_MAX",
    "UPSTREAM_CONNECTIONS_MAX",
    "PASSKEY_*",
    "MEDIA_FOLDER",
    "MEDIA_URL",
    "IDEMPOTENCY_*",
    "RATE_*",
    "REFERRAL_REWARD_MINOR",
    "CHARGE_SURCHARGE_*",
    "GATEWAY_SIGNATURE_HEADER",
    "CHARGEBACK_*",
    "PAYMENT_WINDOW_SECONDS",
    "UNPAID_ORDERS_MAX",
    "UNPAID_SHARE_MAX_PERCENT",
    "BALANCE_REFUNDS_ENABLED",
    "BALANCE_WITHDRAWAL_TWO_PERSON_MINOR",
    "GOODWILL_ORDER_MAX_MINOR",
    "VENDOR_IDLE_SECONDS",
    "PIN_WINDOW_SECONDS",
    "STOREFRONT_URL",
    "RETURN_WINDOW_SECONDS",
    "DELIVERY_PIN_LENGTH",
    "OTEL_*",
    "LOG_LEVEL",
    "TRUSTED_*",
    "ALLOWED_ORIGINS",
    "OPENING_BALANCE_MINOR",
    "ACCESS_LOG",
    "ACCESS_LOG_ENABLED",
    "SMS_API_KEY",
    "SMS_SENDER",
    "SMS_COUNTRIES",
    "SMS_BUDGET_*",
    "MAIL_FROM",
    "ON_CALL_KEY",
    "GATEWAY_PROVIDER",
    "GATEWAY_TIMEOUT_SECONDS",
    "FLUTTERWAVE_RETURN_URL",
    "FLUTTERWAVE_TRANSFER_FEES",
    "PAYOUT_*",
    "DISPATCH_TWO_PERSON_MINOR",
    "BANK_DETAILS_COOLING_SECONDS",
)
"""Settings of the caller that every process receives unchanged (architecture, section 6)."""

_GIVEN_TO = {
    "identity": ("OIDC_PROVIDERS",),
    "orders": ("MEDIA_S3_*",),
    "notifications": (
        "MEDIA_S3_*",
        "SMS_SHAPE",
        "SMS_ROUTE",
        "SMS_SECRET_ROUTE",
        "SMS_FALLBACK_*",
        "MESSAGING_API_*",
        "MESSAGING_BUSINESS_ACCOUNT_ID",
        "MESSAGING_PHONE_NUMBER_ID",
        "MESSAGING_LANGUAGE",
        "FCM_PROJECT",
        "VAPID_SUBJECT",
        "DEVICES_MAX",
        "FEED_*",
        "DELIVERIES_AT_ONCE",
        "PIN_RECEIPT_SECONDS",
        "PROVIDER_*",
        "AI_*",
        "ASSISTANT_*",
    ),
}
"""Settings of the caller that only one service receives, because they include keys."""

BROKER_ACCOUNTS, SHARED = "BROKER_ACCOUNTS", "shared"
"""All processes use the account of `BROKER_URL`: no account per service can be created, or the code declares its own
queues.
"""

_ADDRESSES = (
    "BASE_URL",
    "GATEWAY_API_URL",
    "FLUTTERWAVE_API_URL",
    "SMS_API_URL",
    "SMS_FALLBACK_API_URL",
    "SMTP_URL",
    "MESSAGING_API_URL",
    "PUSH_API_URL",
    "FCM_TOKEN_URL",
    "ON_CALL_URL",
)
"""Addresses of outside providers; the sandbox's unless the caller sets them."""


_DEVELOPMENT_ORIGINS = "http://localhost:*,http://127.0.0.1:*"
"""Local pages may call the API, and payers may return to them (contract 16.15). The caller's ALLOWED_ORIGINS replaces
it.
"""


CONSOLE_SOURCE = "127.0.0.2" if sys.platform == "linux" else "127.0.0.1"
"""The console calls the gateway from an address of its own: no other process here may name its client's address.

Only Linux has all of 127.0.0.0/8.
"""


def machine_environment(caller: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's variables that belong to the machine, not to the system."""
    return _matching(caller, _OF_THE_MACHINE)


class ServerAddresses(Protocol):
    """The addresses of a system's servers, with the administrator's account."""

    @property
    def database_url(self) -> str: ...

    @property
    def broker_url(self) -> str: ...

    @property
    def rate_limit_store_url(self) -> str | None:
        """Redis or Valkey. None: each process counts quotas by itself."""


class Environments:
    """Build the environment of each process of one system."""

    def __init__(
        self,
        caller: Mapping[str, str],
        *,
        port_base: int,
        state_dir: Path,
        servers: ServerAddresses,
        secrets: Mapping[str, str],
    ) -> None:
        self._caller = caller
        self._port_base = port_base
        self._state_dir = state_dir
        self._servers = servers
        self._secrets = secrets

    @property
    def is_installed(self) -> bool:
        """The system is staging or production: every outside address is the caller's."""
        return self._caller.get("ENVIRONMENT") in ("staging", "production")

    @property
    def base_url(self) -> str:
        """The gateway's address on this machine."""
        return f"http://127.0.0.1:{self._port_base}"

    @property
    def sandbox_url(self) -> str:
        """The sandbox's pages and interfaces."""
        return f"http://127.0.0.1:{self._port_base + SANDBOX_PORT}"

    @property
    def console_url(self) -> str:
        """The console's address."""
        return f"http://127.0.0.1:{self._port_base + CONSOLE_PORT}"

    def for_process(self, plan: ProcessPlan, service: Service | None) -> dict[str, str]:
        """Return the environment of a running process."""
        port = self._port_base + plan.port_offset
        environment = {
            **self._shared(),
            **self._secrets_for(plan.service),
            "PORT": str(port),
            "METRICS_PORT": str(self._port_base + plan.health_offset),
            "HOST": self._caller.get("GATEWAY_HOST") or "127.0.0.1" if plan.port_offset == 0 else "127.0.0.1",
            **plan.environment,
        }
        console_url = self._caller.get("CONSOLE_URL", "") if self.is_installed else self.console_url
        if plan.service == "console":
            addresses = {"CONSOLE_URL": console_url or self.console_url, "API_SOURCE_ADDRESS": CONSOLE_SOURCE}
            # By way of the edge the console would share its address with every other client.
            return environment | addresses | ({"API_URL": self.base_url} if self.is_installed else {})
        if service is None:
            return environment | self._sandbox_only()
        urls = self._addresses(service)
        del urls["OWNER_DATABASE_URL"]
        if plan.service == "identity":
            environment = self._passkeys() | environment
        if plan.service == "notifications":
            environment |= self._subscribers() | {"CONSOLE_URL": console_url}
        return environment | urls

    def _subscribers(self) -> dict[str, str]:
        """Return the list of subscribers, unless the caller chose; a system without a checkout has none."""
        chosen = self._caller.get("SUBSCRIBERS_FILE") or (str(LIST.resolve()) if LIST.is_file() else "")
        return {"SUBSCRIBERS_FILE": chosen}

    def _passkeys(self) -> dict[str, str]:
        """Return the console's origin for passkeys, unless the caller chose. Browsers bind none to an IP address."""
        if any(self._caller.get(name) for name in ("PASSKEY_RP_ID", "PASSKEY_ORIGINS", "BASE_URL")):
            return {}
        ports = (self._port_base + CONSOLE_PORT, self._port_base)
        origins = ",".join(f"http://localhost:{port}" for port in ports)
        return {"PASSKEY_RP_ID": "localhost", "PASSKEY_ORIGINS": origins}

    def for_migration(self, service: Service) -> dict[str, str]:
        """Return the environment of `migrate`, the only command that acts as the database's owner."""
        return {**self._shared(), **self._secrets_for(service.name), **self._addresses(service)}

    def for_demo_data(self, service: Service) -> dict[str, str]:
        """Return the environment of `demo-data`: that of the service's own process."""
        urls = self._addresses(service)
        del urls["OWNER_DATABASE_URL"]
        port = str(self._port_base + API_PORTS.get(service.name, 0))
        return {**self._shared(), **self._secrets_for(service.name), **urls, "PORT": port, "METRICS_PORT": port}

    def _shared(self) -> dict[str, str]:
        environment = {
            **machine_environment(self._caller),
            "PYTHONUNBUFFERED": "1",
            "JWKS_URL": f"{self._api_url('identity')}/.well-known/jwks.json",
            **{f"{name.upper()}_URL": self._api_url(name) for name in API_PORTS},
            "MEDIA_FOLDER": str(self._state_dir / "media"),
            "DEMO_DATA": self._caller.get("DEMO_DATA", "0" if self.is_installed else "1"),
            **(self._of_an_installation() if self.is_installed else self._of_development()),
        }
        environment |= {name: self._caller[name] for name in _ADDRESSES if self._caller.get(name)}
        environment |= _matching(self._caller, PASSED_ON)
        # The quota store is a server of this system: RATE_* above must not override it.
        environment.pop("RATE_LIMIT_STORE_URL", None)
        if store := self._servers.rate_limit_store_url:
            environment["RATE_LIMIT_STORE_URL"] = store
        return environment

    def _of_an_installation(self) -> dict[str, str]:
        """Return what differs from the defaults of the services: the edge is a program of this machine."""
        console_url, base_url = self._caller.get("CONSOLE_URL", ""), self._caller.get("BASE_URL", "")
        return {
            "TRUSTED_PROXIES": f"127.0.0.1,{CONSOLE_SOURCE}",
            "SMTP_PLAINTEXT": self._caller.get("SMTP_PLAINTEXT", "false"),
            "ALLOWED_ORIGINS": console_url,
            "PASSKEY_ORIGINS": ",".join(filter(None, (console_url, base_url))),
            "PASSKEY_RP_ID": _common_domain(base_url, console_url),
        }

    def _of_development(self) -> dict[str, str]:
        """Return the sandbox's addresses, and permissions for programs of a developer."""
        sandbox = self.sandbox_url
        return {
            # An operator may publish test events here; events of other services are still rejected.
            "BROKER_VERIFIED_PUBLISHERS": "false",
            "BASE_URL": self.base_url,
            "GATEWAY_API_URL": f"{sandbox}/gateway",
            "FLUTTERWAVE_API_URL": f"{sandbox}/flutterwave/v3",
            "FLUTTERWAVE_RETURN_URL": f"{sandbox}/",
            "SMS_API_URL": f"{sandbox}/sms",
            "SMS_FALLBACK_API_URL": f"{sandbox}/sms",
            "SMTP_URL": f"smtp://127.0.0.1:{self._port_base + SANDBOX_MAIL_PORT}",
            # The sandbox's mail server has no TLS; one of the caller's needs it.
            "SMTP_PLAINTEXT": self._caller.get("SMTP_PLAINTEXT", "false" if self._caller.get("SMTP_URL") else "true"),
            # A developer's receiver of webhooks and identity provider are on this machine.
            "WEBHOOK_ALLOW_LOOPBACK": self._caller.get("WEBHOOK_ALLOW_LOOPBACK", "true"),
            "OIDC_ALLOW_LOOPBACK": self._caller.get("OIDC_ALLOW_LOOPBACK", "true"),
            "MESSAGING_API_URL": f"{sandbox}/messaging",
            # Where `make storefront` serves the example.
            "STOREFRONT_URL": f"http://localhost:{self._caller.get('STOREFRONT_PORT', '5173')}",
            "PUSH_API_URL": f"{sandbox}/push",
            "FCM_TOKEN_URL": f"{sandbox}/push/oauth/token",
            "ON_CALL_URL": f"{sandbox}/on-call/api/v2/alerts",
            "ALLOWED_ORIGINS": _DEVELOPMENT_ORIGINS,
            "TRUSTED_PROXIES": CONSOLE_SOURCE,
        }

    def _secrets_for(self, service: str) -> dict[str, str]:
        allowed = SECRETS_OF_SERVICES.get(service, ())
        patterns = [*allowed, *(f"{name}_PREVIOUS" for name in allowed)]
        previous = {name: text for name, text in self._caller.items() if name.endswith("_PREVIOUS")}
        given = _matching(self._caller, _GIVEN_TO.get(service, ()))
        known = {**previous, **self._secrets}
        return {**given, **_matching({**known, **keys_of_purposes(known)}, patterns)}

    def _sandbox_only(self) -> dict[str, str]:
        return {
            "SMTP_PORT": str(self._port_base + SANDBOX_MAIL_PORT),
            "SUBMISSION_PORT": str(self._port_base + SANDBOX_SUBMISSION_PORT),
            "LOAD_BALANCER_PORT": str(self._port_base + SANDBOX_LOAD_BALANCER_PORT),
            "LOAD_BALANCER_UPSTREAM": self.base_url,
            "NAME_SERVER_PORT": str(self._port_base + SANDBOX_NAME_SERVER_PORT),
            "STATE_DIR": str(self._state_dir / "sandbox"),
            "BASE_URL": self.sandbox_url,
            "WEBHOOK_URL": f"{self.base_url}/functions/v1/gateway-webhook",
            "FLUTTERWAVE_WEBHOOK_URL": f"{self.base_url}/api/webhooks/flutterwave",
            "MESSAGING_WEBHOOK_URL": f"{self.base_url}/api/messaging/webhook",
            "SMS_RECEIPT_URL": f"{self.base_url}/functions/v1/sms-receipts",
        }

    def _addresses(self, service: Service) -> dict[str, str]:
        broker_url = self._servers.broker_url
        if self._caller.get(BROKER_ACCOUNTS) != SHARED:
            broker_url = service_broker_url(broker_url, service, self._secrets)
        return {
            **service_database_urls(self._servers.database_url, service, self._secrets),
            "BROKER_URL": broker_url,
        }

    def _api_url(self, service: str) -> str:
        return f"http://127.0.0.1:{self._port_base + API_PORTS[service]}"


def callers_environment(overrides: Mapping[str, str] | None) -> dict[str, str]:
    """Return the environment of this program with `overrides` applied."""
    return {**os.environ, **(overrides or {})}


def _matching(variables: Mapping[str, str], patterns: tuple[str, ...] | list[str]) -> dict[str, str]:
    return {name: text for name, text in variables.items() if any(fnmatchcase(name, pattern) for pattern in patterns)}


def _common_domain(*origins: str) -> str:
    """Return the longest domain of at least two labels that all hosts share, or an empty text."""
    labels = [(urlsplit(origin).hostname or "").split(".")[::-1] for origin in origins]
    common = list(takewhile(lambda found: len(set(found)) == 1, zip(*labels, strict=False)))
    return ".".join(found[0] for found in reversed(common)) if len(common) > 1 else ""
