"""Read the payment gateway's balance and transfers through its public API."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx

# The gateway's page limit, and a bound on the lines of a list that the audit compares.
_PAGE_LENGTH: Final = 1000
_PAGES_MAX: Final = 2000
# A transfer in these states has moved no money.
CAME_BACK: Final = ("failed", "rejected", "blocked", "abandoned", "reversed")


class GatewayNotCompared(Exception):
    """The gateway returned no usable response, so the ledgers were not compared with it."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """Address and key of the gateway, and its balance before the first charge in kobo."""

    url: str
    key: str
    opening_minor: int = 0

    @classmethod
    def of(cls, environment: Mapping[str, str], secrets: Mapping[str, str], sandbox_url: str) -> "Gateway":
        """Return the gateway of `GATEWAY_API_URL`, else the sandbox of this system, as `make run` does."""
        url = environment.get("GATEWAY_API_URL") or f"{sandbox_url}/gateway"
        # The first key signs; the others are accepted during a rotation.
        key = secrets.get("GATEWAY_SECRET_KEY", "").split(",", 1)[0]
        opening = environment.get("OPENING_BALANCE_MINOR") or "0"
        return cls(url.rstrip("/"), key, int(opening) if opening.isdigit() else 0)

    async def read(self) -> "GatewayStatement":
        """Fetch the balance in naira, all transfers and all settlements. Raises GatewayNotCompared."""
        if not self.key:
            raise GatewayNotCompared("GATEWAY_SECRET_KEY is not known")
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            async with httpx.AsyncClient(headers=headers, timeout=30, trust_env=False) as client:
                balances = await self._get(client, "balance")
                transfers = await self._all(client, "transfer")
                settled = await self._all(client, "settlement")
            balance_minor = next(int(line["balance"]) for line in balances if line["currency"] == "NGN")
            in_naira = {_reference_of(line): line for line in transfers if line["currency"] == "NGN"}
            statuses = {reference: str(line["status"]) for reference, line in in_naira.items()}
            fees = {reference: int(line.get("fee_charged") or 0) for reference, line in in_naira.items()}
            settlements = {
                str(line["id"]): int(line["effective_amount"])
                for line in settled
                if line["currency"] == "NGN" and line["status"] == "success"
            }
        except (httpx.HTTPError, KeyError, TypeError, ValueError, StopIteration) as error:
            raise GatewayNotCompared(f"{type(error).__name__}: {error}") from error
        return GatewayStatement(balance_minor - self.opening_minor, statuses, fees, settlements)

    async def _all(self, client: httpx.AsyncClient, path: str) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        for page in range(1, _PAGES_MAX + 1):
            listed = await self._get(client, path, page=page, perPage=_PAGE_LENGTH)
            lines += listed
            if len(listed) < _PAGE_LENGTH:
                return lines
        raise GatewayNotCompared(f"its list of {path} has more than {_PAGES_MAX * _PAGE_LENGTH} lines")

    async def _get(self, client: httpx.AsyncClient, path: str, **params: int) -> list[dict[str, Any]]:
        response = await client.get(f"{self.url}/{path}", params=params)
        if response.status_code != 200:
            raise GatewayNotCompared(f"{path} answered {response.status_code}")
        listed: list[dict[str, Any]] = response.json()["data"]
        return listed


def _reference_of(transfer: Mapping[str, Any]) -> str:
    """A transfer from before references has its code only."""
    return str(transfer.get("reference") or transfer["transfer_code"])


@dataclass(frozen=True, slots=True)
class GatewayStatement:
    """The money held at the gateway in kobo, the state and fee of each transfer by reference, and each settlement by id."""

    held_minor: int
    transfers: Mapping[str, str]
    fees: Mapping[str, int]
    settlements: Mapping[str, int]

    @property
    def left(self) -> list[str]:
        """References of transfers whose money is not at the gateway."""
        return [reference for reference, status in self.transfers.items() if status not in CAME_BACK]

    @property
    def arrived(self) -> list[str]:
        """References of transfers that the bank confirmed."""
        return [reference for reference, status in self.transfers.items() if status == "success"]
