"""What the gateway is told by its environment (architecture section 6). Read only by the composition root."""

import ipaddress
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import NoDecode

from common.process.settings import HttpAddress, Origins, ServiceSettings

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Settings(ServiceSettings):
    """Addresses of the services behind, quotas, and the times of the idempotency records (seconds)."""

    # The gateway signs no cursor and opens no function: it holds no secret but its database's password.
    cursor_key: str = ""

    metrics_port: int = Field(ge=1, le=65535)
    identity_url: HttpAddress
    orders_url: HttpAddress
    payments_url: HttpAddress
    payouts_url: HttpAddress
    notifications_url: HttpAddress
    upstream_connections_max: int = Field(default=256, ge=1)

    trusted_proxies: Annotated[tuple[Network, ...], NoDecode] = ()
    allowed_origins: Origins = Field(
        default=(),
        description="Origins of web pages that may call the API, for instance `https://shop.example`, or `http://localhost:*` for "
        "any port of this machine; payments compares `callbackUrl` with its setting of the same name",
    )

    rate_limit_store_url: str = Field(default="", pattern="^((rediss?|unix)://.+)?$")
    rate_window_seconds: int = Field(default=60, ge=1)
    rate_tier_1: int = Field(default=60, ge=1)
    rate_tier_2: int = Field(default=300, ge=1)
    rate_tier_3: int = Field(default=600, ge=1)
    rate_tier_4: int = Field(default=10, ge=1)
    rate_tier_5: int = Field(default=20, ge=1)
    rate_tier_4_address: int = Field(default=60, ge=1)
    # Images of one address: a page of the catalog shows twenty, and a campus shares few addresses.
    rate_tier_media: int = Field(default=1_200, ge=1)
    rate_machines: int = Field(default=6_000, ge=1)

    # How long anonymous readers of the catalog share a page; 0: not at all.
    edge_cache_seconds: float = Field(default=5.0, ge=0, le=60)

    # How long a client may take for a head, for a whole body (the smallest useful uplink carries 5 MiB in a minute), and
    # before it takes more of its answer.
    client_head_seconds_max: float = Field(default=20.0, gt=0)
    client_body_seconds_max: float = Field(default=60.0, gt=0)
    client_answer_seconds_max: float = Field(default=60.0, gt=0)

    # Requests that one process answers at once; one processor answers some 3,000 in a second.
    requests_in_flight_max: int = Field(default=1_024, ge=1)
    # After the signal to end: how long new connections are still taken, until every balancer has seen that readiness is gone.
    shutdown_drain_seconds: float = Field(default=2.0, ge=0)

    idempotency_lock_seconds: int = Field(default=120, ge=1)
    idempotency_keep_seconds: int = Field(default=86_400, ge=1)

    @field_validator("trusted_proxies", mode="before")
    @classmethod
    def split_networks(cls, value: object) -> object:
        return tuple(ipaddress.ip_network(part) for part in _parts(value)) if isinstance(value, str) else value

    @model_validator(mode="after")
    def ports_differ(self) -> Self:
        if self.port == self.metrics_port:
            raise ValueError("METRICS_PORT must differ from PORT: metrics are not public")
        return self


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
