"""`python -m <service> declare-broker`: declares exchanges, queues and bindings, with an operator's account in
`BROKER_URL`.

It runs once before the processes of a version start, and reads only `BROKER_URL` and `RETRY_DELAYS_SECONDS`.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Final

from aio_pika.exceptions import CONNECTION_EXCEPTIONS, AMQPError, ProbableAuthenticationError

from common.messaging.topology import TopologyDrift, declare_topology, declared_topology
from common.primitives.retry import DELAYS_SECONDS, RetryLadder

COMMAND: Final = "declare-broker"


class DeclarationFailed(Exception):
    """The broker rejects the topology or the account; the message names the remedy."""


async def declare_broker(broker_url: str, environment: Mapping[str, str]) -> None:
    """Declare the topology of this version; a repetition has no effect. Raises DeclarationFailed."""
    try:
        await declare_topology(broker_url, declared_topology(ladder_of(environment)))
    except TopologyDrift as error:
        raise DeclarationFailed(str(error)) from error
    except ProbableAuthenticationError as error:
        raise DeclarationFailed(
            "The broker rejects the account of BROKER_URL: check its name, its password and the virtual host."
        ) from error
    except (AMQPError, *CONNECTION_EXCEPTIONS) as error:
        raise DeclarationFailed(f"The account of BROKER_URL could not declare the queues: {error!r}.") from error


def ladder_of(environment: Mapping[str, str]) -> RetryLadder:
    """Return the retry ladder of `RETRY_DELAYS_SECONDS`, as the services read it. Raises DeclarationFailed."""
    delays = environment.get("RETRY_DELAYS_SECONDS")
    try:
        return RetryLadder(tuple(float(part) for part in delays.split(",")) if delays else DELAYS_SECONDS)
    except ValueError:
        raise DeclarationFailed("RETRY_DELAYS_SECONDS must be seconds separated by commas.") from None


def declare_by_command() -> None:
    """Exit with a message when the declaration fails."""
    broker_url = os.environ.get("BROKER_URL")
    if not broker_url:
        sys.exit("This environment variable is missing: BROKER_URL.")
    try:
        asyncio.run(declare_broker(broker_url, os.environ))
    except DeclarationFailed as error:
        sys.exit(str(error))
    sys.stdout.write("The queues of the broker are declared.\n")
