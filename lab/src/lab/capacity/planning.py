"""Calculate the machines for a number of orders a day from the measured cost of an order."""

import math
from dataclasses import dataclass
from typing import Final

from lab.capacity.assumed import DAYS_A_MONTH, SECONDS_A_DAY, Assumed, rates_of
from lab.capacity.figures import Measured, Step, Table
from lab.capacity.shipped import Scaling
from operations.services import SERVICES

GIGABYTE: Final = 10**9
_DATABASES: Final = tuple(f"{service.name}-db" for service in SERVICES)
_SHARED: Final = "postgresql"
BROKER: Final = "broker"


@dataclass(frozen=True, slots=True)
class ProcessLine:
    """One process in the busiest second."""

    name: str
    ms_an_order: float
    cores: float
    instances: int
    shipped_most: int | None
    shipped_orders_a_day: float | None
    """The orders that the maximum of deploy/k8s supports; None without a maximum or cost."""


@dataclass(frozen=True, slots=True)
class DatabaseLine:
    """One service's database in the busiest second, and its growth."""

    service: str
    ms_an_order: float
    cores: float
    commits_a_second: float
    shards: int
    rows_a_day: float
    gigabytes_a_month: float
    clients: int
    poolers: int


@dataclass(frozen=True, slots=True)
class TableLine:
    """One table of a database and its growth."""

    name: str
    rows_an_order: float
    changes_an_order: float
    bytes_a_row: float
    rows_a_month: float
    gigabytes_a_month: float


@dataclass(frozen=True, slots=True)
class QueueLine:
    """One queue in the busiest second."""

    name: str
    messages_an_order: float
    messages_a_second: float


@dataclass(frozen=True, slots=True)
class BrokerLine:
    """The broker in the busiest second: CPU on one machine, and on nodes that all write each message."""

    ms_an_order: float
    messages_an_order: float
    messages_a_second: float
    cores: float
    clusters: int


@dataclass(frozen=True, slots=True)
class Node:
    """One machine with all processes."""

    cores: int
    ms_an_order: float
    idle_cores: float
    orders_a_second: float
    orders_a_day: float


def whole_order(measured: Measured, assumed: Assumed) -> Step:
    """Return the cost of an order with its share of a payout and its page reads."""
    parts = (
        (measured.order, 1.0),
        (measured.payout, 1 / assumed.orders_a_payout),
        (measured.read, assumed.reads_an_order),
    )
    tables: dict[str, Table] = {}
    for step, times in parts:
        for name, table in step.tables.items():
            earlier = tables.get(name)
            rows, changes = table.rows * times, table.changes * times
            if earlier is not None:
                rows, changes = rows + earlier.rows, changes + earlier.changes
            tables[name] = Table(rows, changes, table.row_bytes, table.index_bytes)
    return Step(
        count=measured.order.count,
        cpu_ms=_sum([(step.cpu_ms, times) for step, times in parts]),
        commits=_sum([(step.commits, times) for step, times in parts]),
        tables=tables,
        messages=_sum([(step.messages, times) for step, times in parts]),
        log_bytes=sum(step.log_bytes * times for step, times in parts),
    )


def process_lines(order: Step, assumed: Assumed, shipped: dict[str, Scaling]) -> list[ProcessLine]:
    """All processes. One instance uses at most one core: an event loop is one thread."""
    peak, mean = rates_of(assumed).busiest_second, rates_of(assumed).mean
    lines = []
    for name, spent in sorted(order.cpu_ms.items()):
        if name in (*_DATABASES, _SHARED, BROKER):
            continue
        cores = spent / 1000 * peak
        scaling = shipped.get(name)
        supported = None
        if scaling is not None and spent:
            # At the maximum of instances in the busiest second, with the same distribution over the day.
            supported = scaling.most * assumed.busy_at_most / (spent / 1000) / peak * mean * SECONDS_A_DAY
        lines.append(
            ProcessLine(
                name,
                spent,
                cores,
                max(1, math.ceil(cores / assumed.busy_at_most)),
                scaling.most if scaling else None,
                supported,
            )
        )
    return lines


def database_lines(order: Step, assumed: Assumed, processes: list[ProcessLine]) -> list[DatabaseLine]:
    """All databases; PostgreSQL's shared CPU (log writer, vacuum) is divided in proportion to their own."""
    peak = rates_of(assumed).busiest_second
    own = {name: order.cpu_ms.get(name, 0.0) for name in _DATABASES}
    more = 1 + order.cpu_ms.get(_SHARED, 0.0) / max(sum(own.values()), 1e-9)
    lines = []
    for service in SERVICES:
        spent = own[f"{service.name}-db"] * more
        cores = spent / 1000 * peak
        tables = [table for name, table in order.tables.items() if name.partition(".")[0] == service.name]
        clients = assumed.connections_a_process * sum(
            line.instances
            for line in processes
            if line.name.removesuffix("-api").removesuffix("-worker") == service.name
        )
        lines.append(
            DatabaseLine(
                service.name,
                spent,
                cores,
                order.commits.get(service.name, 0.0) * peak,
                max(1, math.ceil(cores / (assumed.database_cores * assumed.busy_at_most))),
                sum(table.rows for table in tables) * assumed.orders_a_day,
                sum(table.bytes for table in tables) * assumed.orders_a_day * DAYS_A_MONTH / GIGABYTE,
                clients,
                max(1, math.ceil(clients / assumed.pooler_clients)),
            )
        )
    return lines


def table_lines(order: Step, assumed: Assumed) -> list[TableLine]:
    """Return the tables that an order writes to, fastest growing first, without retention."""
    monthly = assumed.orders_a_day * DAYS_A_MONTH
    lines = [
        TableLine(
            name,
            table.rows,
            table.changes,
            table.row_bytes + table.index_bytes,
            table.rows * monthly,
            table.bytes * monthly / GIGABYTE,
        )
        for name, table in order.tables.items()
    ]
    return sorted(lines, key=lambda line: (-line.gigabytes_a_month, line.name))


def queue_lines(order: Step, assumed: Assumed) -> list[QueueLine]:
    """Return the queues of an order, busiest first."""
    peak = rates_of(assumed).busiest_second
    lines = [QueueLine(name, share, share * peak) for name, share in order.messages.items() if share]
    return sorted(lines, key=lambda line: (-line.messages_a_second, line.name))


def broker_line(order: Step, assumed: Assumed) -> BrokerLine:
    """Return the broker: each node that writes a message spends the CPU of the measured node."""
    peak = rates_of(assumed).busiest_second
    spent, messages = order.cpu_ms.get(BROKER, 0.0), sum(order.messages.values())
    cores = spent / 1000 * peak * assumed.broker_nodes
    room = assumed.broker_cores * assumed.broker_nodes * assumed.busy_at_most
    return BrokerLine(spent, messages, messages * peak, cores, max(1, math.ceil(cores / room)))


def one_node(measured: Measured, assumed: Assumed, cores: int) -> Node:
    """Return the orders that one machine with this number of cores supports."""
    order = whole_order(measured, assumed)
    spent, idle = sum(order.cpu_ms.values()), sum(measured.idle_cpu_ms.values()) / 1000
    rate = max(0.0, cores * assumed.busy_at_most - idle) / (spent / 1000)
    rates = rates_of(assumed)
    return Node(cores, spent, idle, rate, rate / rates.busiest_second * assumed.orders_a_day)


def _sum(parts: list[tuple[dict[str, float], float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for figures, times in parts:
        for name, figure in figures.items():
            total[name] = total.get(name, 0.0) + figure * times
    return total
