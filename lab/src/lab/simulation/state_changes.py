"""Changes of state in the databases of a simulation, compared with the lifecycles that decide them."""

from collections.abc import Mapping
from typing import Any, Final, Self

import asyncpg

from campus_tools.documents.lifecycles import LIFECYCLES
from common.primitives.lifecycles import Lifecycle
from lab.simulation.situations import record_meanwhile
from lab.stepped.reached import REACHED, observe_decisions
from testkit.state_changes import StateChanges, coverage

# A transfer's row has the gateway's last response, also one that contradicts an earlier response (decision 114).
_OF_RESPONSES: Final = "payouts.payout_transfers"


class MarketStateChanges:
    """The changes of state since the start of a simulation, in the databases of all its services."""

    def __init__(self, by_service: Mapping[str, StateChanges]) -> None:
        self._by_service = by_service

    @classmethod
    async def recorded(cls, databases: Mapping[str, asyncpg.Connection]) -> Self:
        """Record the changes of all lifecycles of these services from now on."""
        observe_decisions(LIFECYCLES)
        market = cls.of(databases)
        for service, changes in market._by_service.items():
            others = [_OF_RESPONSES.removeprefix(f"{service}.")] if _OF_RESPONSES.startswith(service) else []
            await changes.start(others)
        return market

    @classmethod
    def of(cls, databases: Mapping[str, asyncpg.Connection]) -> Self:
        """Return the changes that these databases record already."""
        governed: dict[str, dict[str, Lifecycle[Any, Any]]] = {service: {} for service in databases}
        for lifecycle, tables in LIFECYCLES.items():
            for name in tables:
                service, _, table = name.partition(".")
                if service in databases and name != _OF_RESPONSES:
                    governed[service][table] = lifecycle
        return cls({name: StateChanges(databases[name], lifecycles) for name, lifecycles in governed.items()})

    async def forbidden(self) -> list[str]:
        """Return the changes since the last call that no rule allows, and record the situations of all of them."""
        found = [f"{name}: {text}" for name, one in self._by_service.items() for text in await one.forbidden()]
        record_meanwhile(change for one in self._by_service.values() for change in one.recent)
        for lifecycle, changes in self._walked.items():
            REACHED.update(f"{lifecycle.name}: from {before} to {after}" for before, after in changes)
        return found

    @property
    def line(self) -> str:
        """The number of walked changes of each lifecycle."""
        shown = (coverage(lifecycle, changes) for lifecycle, changes in self._walked.items() if changes)
        return f"changes of state: {', '.join(shown)}"

    @property
    def _walked(self) -> dict[Lifecycle[Any, Any], set[tuple[str, str]]]:
        return {
            lifecycle: set().union(*(one.walked.get(lifecycle, set()) for one in self._by_service.values()))
            for lifecycle in LIFECYCLES
        }
