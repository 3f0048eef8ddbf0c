"""The servers of a database's address: one, or several of which one is the primary."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

import asyncpg

# A server that these come from is passed over: it is away, starts or ends.
_UNAVAILABLE: Final = (OSError, asyncpg.CannotConnectNowError, asyncpg.ConnectionDoesNotExistError)


class NoSuchServer(ConnectionError):
    """The server is not of the kind that the address demands: a standby, during a failover."""


@dataclass(slots=True)
class DatabaseServers:
    """The addresses to try, each with one server; the one that accepted last is the first.

    asyncpg tries several servers within one limit, of which a server that does not respond at all uses up everything.
    """

    addresses: list[str]

    @classmethod
    def of(cls, url: str) -> Self:
        """Divide `postgresql://account@one:5432,two:5432/name?options`. A URL of SQLAlchemy is accepted."""
        parts = urlsplit(url.replace("postgresql+asyncpg://", "postgresql://", 1))
        account, at, hosts = parts.netloc.rpartition("@")
        return cls([parts._replace(netloc=f"{account}{at}{host}").geturl() for host in hosts.split(",")])

    async def connect(
        self,
        *,
        timeout: float = 60.0,
        settings: Mapping[str, str] | None = None,
        command_timeout: float | None = None,
        statement_cache_size: int = 100,
    ) -> asyncpg.Connection:
        """Return a connection within `timeout` seconds, of which each server has an equal share.

        Raises what the last server raised, and at once what none of them would accept, such as a wrong password.
        """
        refused: BaseException = OSError("the address names no server")
        # A copy: callers may connect at the same time.
        for address in list(self.addresses):
            try:
                connection = await asyncpg.connect(
                    address,
                    timeout=timeout / len(self.addresses),
                    command_timeout=command_timeout,
                    statement_cache_size=statement_cache_size,
                    server_settings=dict(settings or {}),
                )
            except _UNAVAILABLE as error:
                refused = error
            except asyncpg.TargetServerAttributeNotMatched as error:
                # For asyncpg a misuse of its client; for us an outage.
                refused = NoSuchServer(f"no server of the address accepts: {error}")
            else:
                self.addresses.sort(key=lambda one: one != address)
                return connection
        raise refused
