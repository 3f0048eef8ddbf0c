"""The webhooks that the payment gateway has for us; nothing sends them but the steps of a run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import httpx

from lab.stepped.wrappers import PROVIDER_CALLS

_LISTED_FIRST: Final = 50


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook that was neither sent nor lost."""

    id: int
    event: str
    reference: str
    body: bytes


class WebhookQueue:
    """The waiting webhooks in their order. The gateway creates one only when it is called, so it is asked only then."""

    def __init__(self, sandbox: Callable[[], httpx.AsyncClient]) -> None:
        self._sandbox = sandbox
        self._waiting: list[Webhook] = []
        self._listed_id, self._calls = 0, -1

    async def waiting(self) -> list[Webhook]:
        """Return the waiting webhooks, oldest first."""
        while self._calls != (calls := PROVIDER_CALLS.count):
            await self._list()
            self._calls = calls
        return list(self._waiting)

    async def claim(self, reference: str) -> bytes:
        """Return the body of the newest webhook about a charge or transfer, which only the caller sends from now on."""
        about = [webhook for webhook in await self.waiting() if reference.encode() in webhook.body]
        for webhook in about:
            self.discard(webhook)
        return about[-1].body

    async def claim_all(self) -> list[Webhook]:
        """Return the waiting webhooks, which only the caller sends from now on."""
        await self.waiting()
        claimed, self._waiting = self._waiting, []
        return claimed

    def discard(self, webhook: Webhook) -> None:
        """Remove a webhook that was sent or lost, if it still waits."""
        if webhook in self._waiting:
            self._waiting.remove(webhook)

    async def _list(self) -> None:
        limit = _LISTED_FIRST
        while True:
            query = {"status": "dropped", "limit": str(limit)}
            listed = (await self._sandbox().get("/control/webhooks", params=query)).raise_for_status().json()
            # Another listing may have ended meanwhile.
            new = [line for line in reversed(listed) if line["id"] > self._listed_id]
            if len(new) < limit:
                break
            limit *= 4
        for line in new:
            self._listed_id = line["id"]
            self._waiting.append(Webhook(line["id"], line["event"], line["reference"], line["body"].encode()))
