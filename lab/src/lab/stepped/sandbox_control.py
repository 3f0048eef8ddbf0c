"""The world outside of the marketplace: the payment gateway and the banks, as the sandbox plays them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import httpx

SETTINGS: Final = {"refund_settlement": "manual", "transfer_settlement": "manual", "transfer_minimum_minor": 1}
_WEBHOOKS: Final = ("charge_webhook", "transfer_webhook", "refund_webhook", "dispute_webhook")


class SandboxControl:
    """The sandbox's control calls, and the payment gateway's API under our key."""

    def __init__(self, client: httpx.AsyncClient, gateway_key: bytes) -> None:
        self.client = client
        self._headers = {"Authorization": f"Bearer {gateway_key.decode()}"}

    async def configure(self, settings: Mapping[str, Any] = SETTINGS) -> None:
        """Change settings of the sandbox; by default to those of a run."""
        await self._put("settings", settings)

    async def set_faults(self, **rules: Any) -> None:
        """Set fault rules; the sandbox sends no webhook itself."""
        dropped = {kind: {"drop": True} for kind in _WEBHOOKS}
        await self._put("faults", {**dropped, **rules})

    async def act(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Let something happen at the payment gateway or a bank; return the response."""
        return (await self.client.post(f"/control/{path}", json=body or {})).raise_for_status().json()

    async def name_account(self, bank_code: str, account_number: str, account_name: str) -> None:
        """Register a bank account under this name."""
        body = {"bank_code": bank_code, "account_number": account_number, "account_name": account_name}
        await self._put("accounts", body)

    async def listed(self, path: str, **parameters: str) -> Sequence[dict[str, Any]]:
        """Return a list of the payment gateway's API."""
        parameters = {"perPage": "1000", **parameters}
        response = await self.client.get(f"/gateway/{path}", params=parameters, headers=self._headers)
        return list(response.raise_for_status().json()["data"])

    async def find(self, path: str) -> Any:
        """Return what the gateway's API has under this path; None when it has nothing."""
        response = await self.client.get(f"/gateway/{path}", headers=self._headers)
        return response.json()["data"] if response.is_success else None

    async def _put(self, path: str, body: Mapping[str, Any]) -> None:
        (await self.client.put(f"/control/{path}", json=body)).raise_for_status()
