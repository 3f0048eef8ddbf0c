"""Hold the teams that subscribe at the broker to their limits: `python -m operations.subscriber_supervisor`.

RabbitMQ limits the queues of a virtual host, not those of an account, and its permissions do not distinguish an
exchange from a queue. Every few seconds this program reads the names that begin with `sub.`, and removes what exceeds
(decision 103):

- queues of a team above `SUBSCRIBER_QUEUES_MAX`: the newest ones,
- exchanges of a team, through which it could publish.

It closes the connections of that team, so that its program shows the reason. `BROKER_URL` names the virtual host and an
administrator; `BROKER_MANAGEMENT_URL` is by default the same account at port 15672 of the same host. `ROUND_FILE` is a
file whose time is that of the last complete round, for a health check; none by default.
"""

import asyncio
import os
import signal
import ssl
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlsplit

import httpx

from common.primitives.inside_tls import inside_client_tls
from common.primitives.tls import client_tls
from operations.broker_accounts import SUBSCRIBER_QUEUES_MAX
from operations.provision import virtual_host
from operations.secret_table import subscriber_account

# Faster than a team can fill the virtual host's limit with declarations, one round trip each.
EVERY_SECONDS: Final = 5.0
_PAGE: Final = {"page": "1", "page_size": "500", "name": r"^sub\.", "use_regex": "true"}


class SubscriberSupervisor:
    """The rounds over one virtual host. Queues of earlier rounds are older than those that a round finds new."""

    def __init__(self, api: httpx.AsyncClient, host: str) -> None:
        """Take `api`, the management API, and `host`, the name of the virtual host."""
        self._api, self._host = api, quote(host, safe="")
        self._known: dict[str, int] = {}
        self._rounds = 0

    async def run_once(self) -> list[str]:
        """Remove what exceeds; return a sentence for each team. Raises httpx.HTTPError."""
        self._rounds += 1
        queues = await self._list("queues", "name,consumers,messages")
        self._known = {queue["name"]: self._known.get(queue["name"], self._rounds) for queue in queues}
        excess = self._excess(queues)
        exchanges = [exchange["name"] for exchange in await self._list("exchanges", "name")]
        removed: dict[str, list[str]] = defaultdict(list)
        for team, names in excess.items():
            removed[team].append(f"{len(names)} queues above {SUBSCRIBER_QUEUES_MAX}")
        for exchange in exchanges:
            removed[_team_of(exchange)].append(f"the exchange {exchange}")
        for team, what in removed.items():
            # Exclusive queues are deleted with their connection only. A new connection is listed after some seconds:
            # the next round finds its exclusive queues again.
            await self._close_connections(team, f"a subscriber may not have {' and '.join(what)}")
        for name in (name for names in excess.values() for name in names):
            await self._delete(f"/api/queues/{self._host}/{quote(name, safe='')}")
        for exchange in exchanges:
            await self._delete(f"/api/exchanges/{self._host}/{quote(exchange, safe='')}")
        return [f"team {team}: removed {' and '.join(what)}" for team, what in sorted(removed.items())]

    def _excess(self, queues: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
        """Return the newest queues of each team above its limit; of the same age those that are not in use."""
        by_team: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for queue in queues:
            by_team[_team_of(queue["name"])].append(queue)
        excess = {}
        for team, owned in by_team.items():
            owned.sort(key=lambda queue: (self._known[queue["name"]], not _is_in_use(queue), queue["name"]))
            if names := [queue["name"] for queue in owned[SUBSCRIBER_QUEUES_MAX:]]:
                excess[team] = names
        return excess

    async def _list(self, kind: str, columns: str) -> Sequence[Mapping[str, Any]]:
        response = await self._api.get(f"/api/{kind}/{self._host}", params={**_PAGE, "columns": columns})
        response.raise_for_status()
        items: Sequence[Mapping[str, Any]] = response.json()["items"]
        return items

    async def _delete(self, path: str, **headers: str) -> None:
        """Delete what exists. An exclusive queue is refused (400): it ends with its connection, which is closing."""
        response = await self._api.delete(path, headers=headers)
        if response.status_code not in (httpx.codes.NOT_FOUND, httpx.codes.BAD_REQUEST):
            response.raise_for_status()

    async def _close_connections(self, team: str, reason: str) -> None:
        account = subscriber_account(team)
        response = await self._api.get("/api/connections", params={"columns": "name,user"})
        response.raise_for_status()
        for connection in response.json():
            if connection.get("user") == account:
                await self._delete(f"/api/connections/{quote(connection['name'], safe='')}", **{"X-Reason": reason})


def _is_in_use(queue: Mapping[str, Any]) -> bool:
    return bool(queue.get("consumers") or queue.get("messages"))


def _team_of(name: str) -> str:
    return name.split(".")[1]


async def supervise(
    management_url: str,
    broker_url: str,
    report: Callable[[str], None],
    tls: ssl.SSLContext | None = None,
    round_file: Path | None = None,
) -> None:
    """Run rounds until cancelled, and report what was removed. An unreachable broker is reported once, and tried
    again. `tls` verifies the broker; None: the public authorities. Each complete round touches `round_file`.
    """
    async with httpx.AsyncClient(
        base_url=management_url, timeout=10, trust_env=False, verify=tls or client_tls()
    ) as api:
        supervisor, was_reached = SubscriberSupervisor(api, virtual_host(broker_url)), True
        while True:
            try:
                for line in await supervisor.run_once():
                    report(line)
                was_reached = True
                if round_file:
                    round_file.touch()
            except httpx.HTTPError as error:
                # The text of the error may contain the address with its password.
                if was_reached:
                    report(f"the broker's management API does not respond ({type(error).__name__})")
                was_reached = False
            await asyncio.sleep(EVERY_SECONDS)


def _management_url(broker_url: str, authorities: str) -> str:
    parts = urlsplit(broker_url)
    account = parts.netloc.rpartition("@")[0]
    return f"https://{account}@{parts.hostname}:15671" if authorities else f"http://{account}@{parts.hostname}:15672"


async def _main(environment: Mapping[str, str]) -> None:
    broker_url = environment["BROKER_URL"]
    authorities = environment.get("INSIDE_CA_FILE", "")
    if management_url := environment.get("BROKER_MANAGEMENT_URL", ""):
        tls = client_tls()
    else:
        management_url, tls = _management_url(broker_url, authorities), inside_client_tls(authorities)
    file = environment.get("ROUND_FILE", "")
    round_file = Path(file) if file else None
    running = asyncio.ensure_future(supervise(management_url, broker_url, partial(print, flush=True), tls, round_file))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, running.cancel)
    with suppress(asyncio.CancelledError):
        await running


if __name__ == "__main__":
    if not os.environ.get("BROKER_URL"):
        sys.exit("Set BROKER_URL to the broker's address with an administrator's account.")
    asyncio.run(_main(os.environ))
