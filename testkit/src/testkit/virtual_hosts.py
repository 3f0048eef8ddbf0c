"""A virtual host of RabbitMQ for one test process: the modules use it in turn, emptied between them.

A new virtual host with the whole topology costs RabbitMQ several times what the emptying of its queues costs.
"""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

import aio_pika
import httpx

from common.messaging.topology import dead_letter_queue_of, declare_topology, declared_topology, delay_queue_of
from common.primitives.retry import RetryLadder
from common.primitives.tls import client_tls

_TIMEOUT_SECONDS: Final = 60.0


class VirtualHost:
    """One virtual host, by its name, and its address."""

    def __init__(self, broker_url: str, api: httpx.AsyncClient, name: str) -> None:
        parts = urlsplit(broker_url)
        self._user = quote(parts.username or "guest", safe="")
        self._api = api
        self._name = name
        self._topology = declared_topology(RetryLadder())
        self.url = urlunsplit(parts._replace(path=f"/{name}"))

    async def prepare(self) -> None:
        """Yield the whole topology without a message; what earlier tests changed is undone."""
        if not await self._is_as_declared() or not await self._emptied():
            await self.delete()
            await self._create()

    async def delete(self) -> None:
        """Has no effect on one that does not exist."""
        response = await self._api.delete(f"/api/vhosts/{self._name}")
        if response.status_code != httpx.codes.NOT_FOUND:
            response.raise_for_status()

    async def _create(self) -> None:
        (await self._api.put(f"/api/vhosts/{self._name}")).raise_for_status()
        rights = {"configure": ".*", "write": ".*", "read": ".*"}
        (await self._api.put(f"/api/permissions/{self._name}/{self._user}", json=rights)).raise_for_status()
        await declare_topology(self.url, self._topology)
        # Kept by the broker, for the next process of the same run.
        description = {"description": await self._definitions()}
        (await self._api.put(f"/api/vhosts/{self._name}", json=description)).raise_for_status()

    async def _is_as_declared(self) -> bool:
        response = await self._api.get(f"/api/vhosts/{self._name}")
        return response.is_success and response.json().get("description") == await self._definitions()

    async def _definitions(self) -> str:
        """Return a digest of all queues, exchanges, bindings and policies."""
        response = await self._api.get(f"/api/definitions/{self._name}")
        content = response.raise_for_status().json()
        parts = {
            kind: sorted(json.dumps(part, sort_keys=True) for part in content.get(kind, ()))
            for kind in ("queues", "exchanges", "bindings", "policies", "parameters")
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    async def _emptied(self) -> bool:
        """Return False when a consumer is left, which would take messages of the next tests."""
        delays = [delay_queue_of(delay) for delay in self._topology.ladder.delays_seconds]
        dead = sorted({dead_letter_queue_of(name) for name in self._topology.bindings})
        async with await aio_pika.connect(self.url) as connection:
            channel = await connection.channel(publisher_confirms=False)
            # A delayed message returns to its work queue: that one is emptied later.
            for name in [*delays, *self._topology.bindings, *dead]:
                queue = await channel.declare_queue(name, passive=True)
                if queue.declaration_result.consumer_count:
                    return False
                await queue.purge()
        return True


@asynccontextmanager
async def virtual_host(broker_url: str, management_url: str, name: str, *, kept: bool) -> AsyncIterator[VirtualHost]:
    """Yield a virtual host that is not made yet. `kept`: it stays, for the next process of the same run."""
    async with httpx.AsyncClient(
        base_url=management_url, timeout=_TIMEOUT_SECONDS, trust_env=False, verify=client_tls()
    ) as api:
        host = VirtualHost(broker_url, api, name)
        yield host
        if not kept:
            await host.delete()
