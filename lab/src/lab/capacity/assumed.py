"""What is not measured and has to be assumed, each with its reason; another business changes a number here and runs the command again."""

from dataclasses import dataclass
from typing import Final

DAY: Final = (1, 1, 1, 1, 1, 2, 3, 4, 5, 5, 5, 6, 8, 7, 5, 5, 5, 6, 7, 8, 8, 6, 4, 2)
"""Weights of the hours of a day on a campus: few at night, a first peak between lectures at noon, a second in the evening."""
SECONDS_A_DAY: Final = 86_400
SECONDS_AN_HOUR: Final = 3_600
DAYS_A_MONTH: Final = 30


@dataclass(frozen=True, slots=True)
class Assumed:
    """The business and the machines."""

    orders_a_day: float = 10_000_000
    day: tuple[float, ...] = DAY
    burst: float = 1.5
    """The busiest second beside the mean of the busiest hour: lectures end at the full hour."""
    reads_an_order: float = 40.0
    """Lists and product pages that reach the gateway and miss its cache, for one order: two or three buyers of a hundred visits buy."""
    orders_a_payout: float = 20.0
    """A vendor is paid out daily or weekly, not by the order."""
    busy_at_most: float = 0.6
    """Of a core: above it queueing grows faster than the load, and a node that dies leaves its share to the others."""
    database_cores: float = 16.0
    """Of one primary: a size that every cloud has, with disks that keep up."""
    broker_cores: float = 8.0
    """Of each node of the broker."""
    broker_nodes: int = 3
    """Each message of a quorum queue is written on all of them."""
    connections_a_process: int = 20
    """Two pools (the caller's role, the service's) of at most ten: libs/common, database.py."""
    pooler_clients: int = 2_000
    """max_client_conn of one PgBouncer: deploy/k8s/components/databases."""
    objective_seconds: float = 5.0
    """A step of the journey takes effect within this (docs/observability.md, order-journey-lag)."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Orders a second."""

    mean: float
    busiest_hour: float
    busiest_second: float


def rates_of(assumed: Assumed) -> Rates:
    """The day's orders as rates: in the mean, in the mean of the busiest hour, and in its busiest second."""
    mean = assumed.orders_a_day / SECONDS_A_DAY
    busiest = assumed.orders_a_day * max(assumed.day) / sum(assumed.day) / SECONDS_AN_HOUR
    return Rates(mean, busiest, busiest * assumed.burst)
