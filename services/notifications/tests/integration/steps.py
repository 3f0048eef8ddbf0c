"""Steps that several tests of the service share."""

import asyncio
import json
import re
from contextlib import asynccontextmanager
from typing import Any

import httpx

from common.primitives.encryption import Encryptor
from common.primitives.ids import new_id
from common.process.service import http_app
from contracts.identity import OneTimeCodeIssued
from contracts.operations import AlertRaised
from notifications.app import SERVICE
from testkit.fixtures import WAIT_SECONDS_MAX
from testkit.service_kit import served

from .conftest import Scenario

STREAM = "/api/notifications/stream"


def alert_raised(severity="SEV-2", dedup_key="balance:low"):
    return AlertRaised(
        alert_id=new_id(),
        severity=severity,
        title="Gateway balance is short",
        detail="1,000 kobo are missing",
        runbook="gateway-balance",
        dedup_key=dedup_key,
        about="batch-1",
    )


# Ids, hashes, memory addresses, mail boundaries, fractions of seconds: random digits can equal a PIN.
_RANDOM = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[0-9]*[a-f])[0-9a-f]{16,}|0x[0-9a-f]+|={2,}[0-9]+|(?<=[0-9])\.[0-9]+",
    re.IGNORECASE,
)


def without_random_values(text: str) -> str:
    """Return the text without random and measured values, for a search for a short secret."""
    return _RANDOM.sub("", text)


def code_issued(
    encryptor: Encryptor, channel: str, address: str, code: str = "770031", *, purpose: str = "sign_in", **more: Any
) -> OneTimeCodeIssued:
    """Return a one-time code to an address, both encrypted for this service."""
    code_id = new_id()
    return OneTimeCodeIssued(
        code_id=code_id,
        purpose=purpose,
        channel=channel,
        address_sealed=encryptor.encrypt(address, str(code_id)),
        code_sealed=encryptor.encrypt(code, str(code_id)),
        **more,
    )


class Events:
    """The events of a stream, as a client reads them."""

    def __init__(self, response):
        self.response, self._lines = response, response.aiter_lines()

    async def next(self, *, within=WAIT_SECONDS_MAX):
        """Return the next event as (event, id, data); (None, None, None) for a ping or the like, StopAsyncIteration at
        the end.
        """
        fields = {}
        async with asyncio.timeout(within):
            while line := await anext(self._lines):
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        data = fields.get("data")
        return fields.get("event"), fields.get("id"), None if data is None else json.loads(data)

    async def next_notification(self):
        """Return the next notification, after any pings."""
        while True:
            event, event_id, shown = await self.next()
            if event is not None:
                assert (event, event_id) == ("notification", shown["id"])
                return shown


@asynccontextmanager
async def listening(scenario: Scenario, *, send_buffer_bytes=None):
    """Yield the service on a socket, with the background tasks of its API process."""
    app = scenario.app
    asgi_app = http_app(SERVICE, app.settings, app.runtime, app.dependencies)
    async with (
        scenario.running("api"),
        served(asgi_app, send_buffer_bytes=send_buffer_bytes) as url,
        httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client,
    ):
        yield client


@asynccontextmanager
async def following(scenario: Scenario, client: httpx.AsyncClient, user_id=None, *, last=None, **claims):
    headers = scenario.headers(user_id or scenario.buyer_id, **claims)
    headers |= {"Last-Event-ID": last} if last else {}
    async with client.stream("GET", STREAM, headers=headers) as response:
        assert (response.status_code, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        events = Events(response)
        event, events.start_id, data = await events.next()
        assert (event, data) == (None, None)
        assert last is None or events.start_id == last
        yield events
