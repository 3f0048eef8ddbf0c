"""Read the balances and transfers of the payment gateways through their public API."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Final

import httpx

from common.primitives.tls import client_tls

# The gateway's page limit, and a bound on the lines of a list that the audit compares.
_PAGE_LENGTH: Final = 1000
_PAGES_MAX: Final = 2000
# Flutterwave's states; any other one is under way.
_STATUSES: Final = {"SUCCESSFUL": "success", "FAILED": "failed"}
# Destinations of Flutterwave's settlements that are no bank account.
_WALLETS: Final = ("autowallet", "wallet")
# A transfer in these states has moved no money.
CAME_BACK: Final = ("failed", "rejected", "blocked", "abandoned", "reversed")


class GatewayNotCompared(Exception):
    """The gateway returned no usable response, so the ledgers were not compared with it."""


@dataclass(frozen=True, slots=True)
class Gateway:
    """Address and key of the gateway, and its balance before the first charge in kobo.

    `flutterwave` is the second gateway, when it has a key: the ledgers record the money at both together.
    """

    url: str
    key: str
    opening_minor: int = 0
    flutterwave: "FlutterwaveAccount | None" = None

    @classmethod
    def of(cls, environment: Mapping[str, str], secrets: Mapping[str, str], sandbox_url: str) -> "Gateway":
        """Return the gateway of `GATEWAY_API_URL`, else the sandbox of this system, as `make run` does."""
        url = environment.get("GATEWAY_API_URL") or f"{sandbox_url}/gateway"
        # The first key signs; the others are accepted during a rotation.
        key = secrets.get("GATEWAY_SECRET_KEY", "").split(",", 1)[0]
        opening = environment.get("OPENING_BALANCE_MINOR") or "0"
        second_url = environment.get("FLUTTERWAVE_API_URL") or f"{sandbox_url}/flutterwave/v3"
        second_key = secrets.get("FLUTTERWAVE_SECRET_KEY", "")
        second = FlutterwaveAccount(second_url.rstrip("/"), second_key) if second_key else None
        return cls(url.rstrip("/"), key, int(opening) if opening.isdigit() else 0, second)

    async def read(self) -> "GatewayStatement":
        """Fetch the balances in naira, all transfers and all settlements of every gateway. Raises GatewayNotCompared."""
        first = await self._read_first()
        if self.flutterwave is None:
            return first
        second = await self.flutterwave.read()
        return GatewayStatement(
            first.held_minor + second.held_minor,
            {**first.transfers, **second.transfers},
            {**first.fees, **second.fees},
            {**first.settlements, **second.settlements},
        )

    async def _read_first(self) -> "GatewayStatement":
        if not self.key:
            raise GatewayNotCompared("GATEWAY_SECRET_KEY is not known")
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            async with httpx.AsyncClient(headers=headers, timeout=30, trust_env=False, verify=client_tls()) as client:
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
class FlutterwaveAccount:
    """Address and key of our account at Flutterwave, whose amounts are naira."""

    url: str
    key: str

    async def read(self) -> "GatewayStatement":
        """Fetch the ledger balance, which includes the amounts of open chargebacks, all transfers and the settlements to the bank.

        Raises GatewayNotCompared.
        """
        headers = {"Authorization": f"Bearer {self.key}"}
        try:
            async with httpx.AsyncClient(headers=headers, timeout=30, trust_env=False, verify=client_tls()) as client:
                balance = (await self._get(client, "balances/NGN"))["data"]["ledger_balance"]
                transfers = await self._all(client, "transfers")
                settled = await self._all(client, "settlements")
            in_naira = {str(line["reference"]): line for line in transfers if line["currency"] == "NGN"}
            statuses = {reference: _STATUSES.get(line["status"], "pending") for reference, line in in_naira.items()}
            # A transfer that paid nothing costs nothing.
            fees = {
                reference: 0 if statuses[reference] == "failed" else _kobo(line.get("fee") or 0)
                for reference, line in in_naira.items()
            }
            held_minor = _kobo(balance)
            # Others stay in the wallet, which is a part of the balance.
            settlements = {
                f"flw:{line['id']}": _kobo(line["net_amount"])
                for line in settled
                if line["currency"] == "NGN" and line["status"] == "completed" and line["destination"] not in _WALLETS
            }
        except (httpx.HTTPError, KeyError, TypeError, ValueError, ArithmeticError) as error:
            raise GatewayNotCompared(f"Flutterwave: {type(error).__name__}: {error}") from error
        return GatewayStatement(held_minor, statuses, fees, settlements)

    async def _all(self, client: httpx.AsyncClient, path: str) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = []
        for page in range(1, _PAGES_MAX + 1):
            listed = await self._get(client, path, page=page)
            lines += listed["data"]
            if int(listed["meta"]["page_info"]["total_pages"]) <= page:
                return lines
        raise GatewayNotCompared(f"Flutterwave lists more than {_PAGES_MAX} pages of {path}")

    async def _get(self, client: httpx.AsyncClient, path: str, **params: int) -> dict[str, Any]:
        response = await client.get(f"{self.url}/{path}", params=params)
        if response.status_code != 200:
            raise GatewayNotCompared(f"Flutterwave's {path} answered {response.status_code}")
        body: dict[str, Any] = json.loads(response.content, parse_float=Decimal)
        return body


def _kobo(naira: Any) -> int:
    """Naira in whole kobo: a calculated fee may have more decimals."""
    return int((Decimal(naira) * 100).to_integral_value(ROUND_HALF_UP))


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
