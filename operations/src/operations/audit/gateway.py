"""The payment gateways that an audit compares: addresses, keys and the balance before the first charge."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class GatewayNotCompared(Exception):
    """The gateway returned no usable response, so the ledgers were not compared with it."""


@dataclass(frozen=True, slots=True)
class FlutterwaveAccount:
    """Address and key of our account at Flutterwave, whose amounts are naira."""

    url: str
    key: str


@dataclass(frozen=True, slots=True)
class Gateway:
    """Address and key of the gateway, and its balance before the first charge in kobo.

    `flutterwave` is the second gateway, when it has a key: the ledgers record the money at both together. `work_dir`
    holds the lists that were read, so that an interrupted audit continues them; None: a temporary folder.
    """

    url: str
    key: str
    opening_minor: int = 0
    flutterwave: FlutterwaveAccount | None = None
    work_dir: Path | None = None

    @classmethod
    def of(
        cls,
        environment: Mapping[str, str],
        secrets: Mapping[str, str],
        sandbox_url: str,
        work_dir: Path | None = None,
    ) -> "Gateway":
        """Return the gateway of `GATEWAY_API_URL`, else the sandbox of this system, as `make run` does."""
        url = environment.get("GATEWAY_API_URL") or f"{sandbox_url}/gateway"
        # The first key signs; the others are accepted during a rotation.
        key = secrets.get("GATEWAY_SECRET_KEY", "").split(",", 1)[0]
        opening = environment.get("OPENING_BALANCE_MINOR") or "0"
        second_url = environment.get("FLUTTERWAVE_API_URL") or f"{sandbox_url}/flutterwave/v3"
        second_key = secrets.get("FLUTTERWAVE_SECRET_KEY", "")
        second = FlutterwaveAccount(second_url.rstrip("/"), second_key) if second_key else None
        return cls(url.rstrip("/"), key, int(opening) if opening.isdigit() else 0, second, work_dir)

    @property
    def names(self) -> list[str]:
        """The names that the services store with the objects of these gateways."""
        return ["paystack"] if self.flutterwave is None else ["paystack", "flutterwave"]
