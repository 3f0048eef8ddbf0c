"""The environment variables of the gateway (architecture section 6). Only the composition root reads them.

The store of quotas is one node, or a sentinel's master, because the script uses several keys. A name in
`TRUSTED_PROXIES` is resolved every 5 s.
"""

import ipaddress
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import NoDecode

from common.primitives.web_origins import HttpAddress
from common.process.settings import (
    SIGNATURE_HEADER_DEFAULT,
    AccessLogSettings,
    Origins,
    SharedAddressSettings,
    SignatureHeader,
)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
HostName = Annotated[str, Field(pattern=r"^([A-Za-z0-9_-]+\.)*[A-Za-z][A-Za-z0-9-]*$", max_length=253)]


class Settings(SharedAddressSettings, AccessLogSettings):
    """Addresses of the services, quotas, timeouts, and the retention of idempotency records."""

    # The gateway signs no cursors and calls no functions: its only secret is its database's password.
    cursor_key: str = Field(default="", description="Not used by the gateway", examples=[""])

    metrics_port: int = Field(
        ge=1, le=65535, description="Internal port of health and metrics. Must differ from PORT", examples=["9080"]
    )
    events_address: str = Field(
        default="",
        pattern="^(amqps?://[^/@\\s]+)?$",
        description="Address at which subscribers reach the broker, without an account; /asyncapi.json names it. "
        "Empty: "
        "localhost:5672 as an example",
        examples=["amqps://events.campus.example:5671"],
    )
    identity_url: HttpAddress = Field(description="Address of identity", examples=["http://127.0.0.1:8001"])
    orders_url: HttpAddress = Field(description="Address of orders", examples=["http://127.0.0.1:8002"])
    payments_url: HttpAddress = Field(description="Address of payments", examples=["http://127.0.0.1:8003"])
    payouts_url: HttpAddress = Field(description="Address of payouts", examples=["http://127.0.0.1:8004"])
    notifications_url: HttpAddress = Field(description="Address of notifications", examples=["http://127.0.0.1:8005"])
    upstream_connections_max: int = Field(
        default=256, ge=1, description="Connections to each service, besides event streams", examples=["256"]
    )

    trusted_proxies: Annotated[tuple[Network | HostName, ...], NoDecode] = Field(
        default=(),
        description="Proxies whose `X-Forwarded-For` and trace context are trusted: networks and host names, separated "
        "by commas. A name stands for its current addresses. Name the proxies only: others set any client address",
        examples=["192.0.2.7,console"],
    )
    allowed_origins: Origins = Field(
        default=(),
        description="Origins of web pages that may call the API; `http://localhost:*` allows any port of this machine. "
        "payments compares `callbackUrl` with its setting of the same name",
        examples=["https://shop.example,http://localhost:*"],
    )

    rate_limit_store_url: str = Field(
        default="",
        pattern="^((rediss?|unix)://.+)?$",
        description="Redis or Valkey that counts quotas for all gateways. Empty: each process counts by itself",
        examples=["redis://127.0.0.1:6379/0"],
    )
    rate_window_seconds: int = Field(default=60, ge=1, description="Window of every quota, in seconds", examples=["60"])
    rate_tier_1: int = Field(
        default=60, ge=1, description="Anonymous requests of an address in a window", examples=["60"]
    )
    rate_tier_2: int = Field(default=300, ge=1, description="Requests of a buyer in a window", examples=["300"])
    rate_tier_3: int = Field(
        default=600, ge=1, description="Requests of a merchant or a member of the staff in a window", examples=["600"]
    )
    rate_api_keys: int = Field(default=600, ge=1, description="Requests of an API key in a window", examples=["600"])
    rate_tier_4: int = Field(
        default=10,
        ge=1,
        description="Requests of a user or account to sensitive operations in a window",
        examples=["10"],
    )
    rate_tier_5: int = Field(
        default=20, ge=1, description="Messages of a user to the assistant in a window", examples=["20"]
    )
    rate_tier_4_address: int = Field(
        default=60, ge=1, description="Sign-in requests of an address over all accounts in a window", examples=["60"]
    )
    rate_refused_refreshes: int = Field(
        default=60,
        ge=1,
        description="Refresh tokens of an address that may be refused in a window; valid ones do not count",
        examples=["60"],
    )
    # A page of the catalog shows twenty images, and a campus shares few addresses.
    rate_tier_media: int = Field(
        default=1_200, ge=1, description="Requests of an address for images in a window", examples=["1200"]
    )
    rate_machines: int = Field(
        default=6_000, ge=1, description="Webhooks and function calls of an address in a window", examples=["6000"]
    )

    gateway_signature_header: SignatureHeader = Field(
        default=SIGNATURE_HEADER_DEFAULT,
        description="The header with the signature of the payment gateway's webhooks, which reaches payments. "
        "payments has a setting of "
        "the same name",
        examples=["x-paystack-signature"],
    )

    edge_cache_seconds: float = Field(
        default=5.0,
        ge=0,
        le=60,
        description="Seconds for which anonymous readers share a page of the catalog. 0: pages are not shared",
        examples=["5"],
    )

    client_head_seconds_max: float = Field(
        default=20.0, gt=0, description="Seconds in which a client must send the head of a request", examples=["20"]
    )
    # The slowest useful uplink sends 5 MiB in a minute.
    client_body_seconds_max: float = Field(
        default=60.0, gt=0, description="Seconds in which a client must send a whole body", examples=["60"]
    )
    client_answer_seconds_max: float = Field(
        default=60.0, gt=0, description="Seconds in which a client must read more of a response", examples=["60"]
    )

    # One processor responds to some 3,000 requests in a second.
    requests_in_flight_max: int = Field(
        default=1_024,
        ge=1,
        description="Concurrent requests of a process; beyond it clients get 503",
        examples=["1024"],
    )
    shutdown_drain_seconds: float = Field(
        default=2.0,
        ge=0,
        description=(
            "Seconds after SIGTERM in which connections are still accepted, until balancers see that readiness fails"
        ),
        examples=["2"],
    )

    idempotency_lock_seconds: int = Field(
        default=120, ge=1, description="Lease of a running request's idempotency key, in seconds", examples=["120"]
    )
    idempotency_keep_seconds: int = Field(
        default=86_400,
        ge=1,
        description="Retention of the response of an idempotency key, in seconds",
        examples=["86400"],
    )

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def split_networks(cls, value: object) -> object:
        return tuple(_network_or_name(part) for part in _parts(value)) if isinstance(value, str) else value

    @model_validator(mode="after")
    def ports_differ(self) -> Self:
        if self.port == self.metrics_port:
            raise ValueError("METRICS_PORT must differ from PORT: metrics are not public")
        return self


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _network_or_name(text: str) -> Network | str:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        return text
