"""Assumptions of the calculation with their reasons. For another business, change them and run the command again."""

from dataclasses import dataclass
from typing import Final

DAY: Final = (1, 1, 1, 1, 1, 2, 3, 4, 5, 5, 5, 6, 8, 7, 5, 5, 5, 6, 7, 8, 8, 6, 4, 2)
"""Weights of the hours of a day on a campus: low at night, peaks at noon and in the evening."""
SECONDS_A_DAY: Final = 86_400
SECONDS_AN_HOUR: Final = 3_600
DAYS_A_MONTH: Final = 30


@dataclass(frozen=True, slots=True)
class Assumed:
    """Assumptions about the business and the machines."""

    orders_a_day: float = 10_000_000
    day: tuple[float, ...] = DAY
    burst: float = 1.5
    """The rate of the busiest second relative to the mean of the busiest hour: lectures end at the full hour."""
    reads_an_order: float = 40.0
    """Reads per order that miss the gateway's cache: two or three of a hundred visits end with an order."""
    orders_a_payout: float = 20.0
    """A vendor is paid out daily or weekly, not per order."""
    busy_at_most: float = 0.6
    """The share of a core in use: above it queues grow faster than the load, and other nodes must replace a failed one."""
    database_cores: float = 16.0
    """Cores of one primary: a size that every cloud provider offers."""
    broker_cores: float = 8.0
    """Cores of each node of the broker."""
    broker_nodes: int = 3
    """All nodes write each message of a quorum queue."""
    connections_a_process: int = 20
    """Two pools (the caller's role, the service's) of at most ten: libs/common, database.py."""
    pooler_clients: int = 2_000
    """max_client_conn of one PgBouncer: deploy/k8s/components/databases."""
    objective_seconds: float = 5.0
    """The objective of a step of the order journey (docs/observability.md, order-journey-lag)."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Orders per second."""

    mean: float
    busiest_hour: float
    busiest_second: float


def rates_of(assumed: Assumed) -> Rates:
    """Return the mean rate of the day, of its busiest hour, and of the busiest second."""
    mean = assumed.orders_a_day / SECONDS_A_DAY
    busiest = assumed.orders_a_day * max(assumed.day) / sum(assumed.day) / SECONDS_AN_HOUR
    return Rates(mean, busiest, busiest * assumed.burst)
