"""The tables of docs/capacity.md from the stored figures; the text of the page is written by hand."""

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from lab.capacity.assumed import Assumed, rates_of
from lab.capacity.figures import ROOT, Measured, Step
from lab.capacity.peak_hour import Cluster, Hour, Played, Worker, play
from lab.capacity.planning import (
    BROKER,
    GIGABYTE,
    ProcessLine,
    broker_line,
    database_lines,
    one_node,
    process_lines,
    queue_lines,
    table_lines,
    whole_order,
)
from lab.capacity.shipped import Scaling, scalings

PAGE: Final = ROOT / "docs/capacity.md"
_NODES: Final = (2, 8, 32)
_TABLES_SHOWN: Final = 15


def sections(measured: Measured, assumed: Assumed | None = None) -> dict[str, str]:
    """Return the tables of the page by marker name."""
    assumed = assumed or Assumed()
    order, shipped = whole_order(measured, assumed), scalings()
    processes = process_lines(order, assumed, shipped)
    return {
        "run": _run(measured),
        "order": _order(measured),
        "node": _node(measured, assumed),
        "processes": _processes(processes, assumed),
        "databases": _databases(order, assumed, processes),
        "tables": _tables(order, assumed),
        "broker": _broker(order, assumed),
        "hour": _hour(order, assumed, shipped, processes),
    }


def with_tables(text: str, tables: dict[str, str]) -> str:
    """Return the page with its tables. Raises ValueError when markers and tables differ."""
    places = re.findall(r"<!-- measured: (\w+) -->", text)
    if sorted(places) != sorted(tables):
        raise ValueError(f"the page has places for {places}, but the tables are {list(tables)}")
    for name, table in tables.items():
        text = re.sub(
            rf"(<!-- measured: {name} -->\n).*?(<!-- end -->)",
            lambda found, table=table: f"{found[1]}{table}\n{found[2]}",  # type: ignore[misc]
            text,
            flags=re.DOTALL,
        )
    return text


def write(measured: Measured, path: Path = PAGE) -> None:
    """Write the tables into the page."""
    path.write_text(with_tables(path.read_text(), sections(measured)))


def cells_of(processes: list[ProcessLine], assumed: Assumed) -> int:
    """Return the number of shipped topologies (cells), each with its own campuses, so that no process exceeds its
    maximum.
    """
    supported = [line.shipped_orders_a_day for line in processes if line.shipped_orders_a_day]
    return max(1, math.ceil(assumed.orders_a_day / min(supported)))


def workers_of(order: Step, shipped: dict[str, Scaling]) -> list[Worker]:
    """Return the workers with the queues that an order fills, and their processor time per message."""
    found = []
    for name, scaling in sorted(shipped.items()):
        service, _, kind = name.rpartition("-")
        queues = {queue: share for queue, share in order.messages.items() if queue.partition(".")[0] == service}
        if kind == "worker" and queues:
            found.append(Worker(name, queues, order.cpu_ms[name] / sum(queues.values()), scaling))
    return found


def busiest_hour(
    order: Step, assumed: Assumed, shipped: dict[str, Scaling], cells: int, *, by_lengths_alone: bool = False
) -> list[Played]:
    """Return the busiest hour of one cell with the scaling of deploy/k8s, or by queue lengths alone for comparison."""
    hour = Hour(rates_of(assumed).busiest_hour / cells, assumed.burst)
    if by_lengths_alone:
        shipped = {name: replace(scaling, busy_cores=None) for name, scaling in shipped.items()}
    return [play(worker, hour, Cluster(), assumed.objective_seconds) for worker in workers_of(order, shipped)]


def _run(measured: Measured) -> str:
    steps = f"{measured.order.count} orders, {measured.payout.count} payouts and {measured.read.count} pages"
    busy = (
        f" Other work was on the machine (load {measured.load:.1f} for each core): "
        "its processor time is somewhat too high."
        if measured.load > 1.5
        else f" The load was {measured.load:.1f} for each core."
    )
    return f"Measured {measured.day} with {steps} on {measured.machine}.{busy}"


def _order(measured: Measured) -> str:
    steps = (measured.order, measured.payout, measured.read)
    names = sorted({name for step in steps for name in step.cpu_ms})
    rows = [
        [name, *(_ms(step.cpu_ms.get(name, 0.0)) for step in steps), _ms(measured.idle_cpu_ms.get(name, 0.0))]
        for name in names
    ]
    totals = [_ms(sum(step.cpu_ms.values())) for step in steps]
    rows.append(["**all**", *totals, _ms(sum(measured.idle_cpu_ms.values()))])
    rows.append(
        [
            "commits",
            *(f"{sum(step.commits.values()):.1f}" for step in steps),
            f"{sum(measured.idle_commits.values()):.1f}",
        ]
    )
    rows.append(["rows written", *(f"{sum(table.rows for table in step.tables.values()):.1f}" for step in steps), ""])
    rows.append(
        [
            "rows changed or deleted",
            *(f"{sum(table.changes for table in step.tables.values()):.1f}" for step in steps),
            "",
        ]
    )
    rows.append(["messages", *(f"{sum(step.messages.values()):.1f}" for step in steps), ""])
    rows.append(["log of changes (WAL), kB", *(f"{step.log_bytes / 1000:.1f}" for step in steps), ""])
    return _table(["part, CPU in ms", "an order", "a payout", "a page read", "a second of idling"], rows)


def _node(measured: Measured, assumed: Assumed) -> str:
    rows = []
    for cores in _NODES:
        node = one_node(measured, assumed, cores)
        rows.append(
            [
                str(cores),
                _ms(node.ms_an_order),
                f"{node.idle_cores:.2f}",
                f"{node.orders_a_second:.1f}",
                _whole(node.orders_a_day),
            ]
        )
    heads = [
        "cores",
        "CPU of a whole order, ms",
        "idle, cores",
        "orders a second in the busiest second",
        "orders a day",
    ]
    return _table(heads, rows)


def _processes(lines: list[ProcessLine], assumed: Assumed) -> str:
    rates = rates_of(assumed)
    summary = (
        f"{_whole(assumed.orders_a_day)} orders a day are {rates.mean:.0f} a second in the mean, "
        f"{rates.busiest_hour:.0f} in the busiest hour and "
        f"{rates.busiest_second:.0f} in its busiest second.\n\n"
    )
    rows = [
        [
            line.name,
            _ms(line.ms_an_order),
            f"{line.cores:.1f}",
            str(line.instances),
            "" if line.shipped_most is None else str(line.shipped_most),
            "" if line.shipped_orders_a_day is None else f"{line.shipped_orders_a_day / 1e6:.1f}",
        ]
        for line in lines
    ]
    rows.append(
        [
            "**all**",
            _ms(sum(line.ms_an_order for line in lines)),
            f"{sum(line.cores for line in lines):.1f}",
            str(sum(line.instances for line in lines)),
            "",
            "",
        ]
    )
    heads = [
        "process",
        "ms a whole order",
        "cores",
        "instances",
        "at most in `deploy/k8s`",
        "which carry, million orders a day",
    ]
    cells = cells_of(lines, assumed)
    return (
        summary
        + _table(heads, rows)
        + f"\n\nThe shipped topology has to stand {cells} times, each with campuses of its own (a cell), or its limits have to grow."
    )


def _databases(order: Step, assumed: Assumed, processes: list[ProcessLine]) -> str:
    lines = database_lines(order, assumed, processes)
    rows = [
        [
            line.service,
            _ms(line.ms_an_order),
            f"{line.cores:.1f}",
            _whole(line.commits_a_second),
            str(line.shards),
            f"{line.rows_a_day / 1e6:.0f}",
            _whole(line.gigabytes_a_month),
            _whole(line.clients),
            str(line.poolers),
        ]
        for line in lines
    ]
    heads = [
        "database",
        "ms a whole order",
        "cores",
        "commits a second",
        "primaries",
        "million rows a day",
        "GB a month",
        "clients",
        "poolers",
    ]
    log = order.log_bytes * rates_of(assumed).busiest_second / 1e6
    kept = order.log_bytes * assumed.orders_a_day / GIGABYTE
    return (
        _table(heads, rows)
        + f"\n\nThe log of changes is {log:.0f} MB a second in the busiest second and {_whole(kept)} GB a day, of all primaries together."
    )


def _tables(order: Step, assumed: Assumed) -> str:
    lines = table_lines(order, assumed)
    shown, others = lines[:_TABLES_SHOWN], lines[_TABLES_SHOWN:]
    rows = [
        [
            line.name,
            f"{line.rows_an_order:.2f}",
            f"{line.changes_an_order:.2f}",
            _whole(line.bytes_a_row),
            _whole(line.rows_a_month / 1e6),
            _whole(line.gigabytes_a_month),
        ]
        for line in shown
    ]
    rows.append(
        [
            f"{len(others)} others",
            f"{sum(line.rows_an_order for line in others):.2f}",
            f"{sum(line.changes_an_order for line in others):.2f}",
            "",
            _whole(sum(line.rows_a_month for line in others) / 1e6),
            _whole(sum(line.gigabytes_a_month for line in others)),
        ]
    )
    heads = [
        "table",
        "rows a whole order",
        "changed or deleted",
        "bytes a row, indexes included",
        "million rows a month",
        "GB a month",
    ]
    return _table(heads, rows)


def _broker(order: Step, assumed: Assumed) -> str:
    rows = [
        [line.name, f"{line.messages_an_order:.2f}", _whole(line.messages_a_second)]
        for line in queue_lines(order, assumed)
    ]
    broker = broker_line(order, assumed)
    rows.append(["**all**", f"{broker.messages_an_order:.2f}", _whole(broker.messages_a_second)])
    summary = (
        f"\n\n{_ms(broker.ms_an_order)} ms of `{BROKER}` a whole order, on {assumed.broker_nodes} nodes that all write: "
        f"{broker.cores:.0f} cores, which is "
        f"{broker.clusters} {'cluster' if broker.clusters == 1 else 'clusters'} "
        f"of {assumed.broker_nodes} nodes with {assumed.broker_cores:.0f} cores."
    )
    return _table(["queue", "messages a whole order", "a second in the busiest second"], rows) + summary


def _hour(order: Step, assumed: Assumed, shipped: dict[str, Scaling], processes: list[ProcessLine]) -> str:
    cells = cells_of(processes, assumed)
    rows = []
    hours = (busiest_hour(order, assumed, shipped, cells, by_lengths_alone=alone) for alone in (False, True))
    for worker, played, alone in zip(workers_of(order, shipped), *hours, strict=True):
        rows.append(
            [
                played.name,
                f"{worker.ms_a_message:.1f}",
                _whole(played.messages),
                f"{worker.scaling.least} to {worker.scaling.most}",
                str(played.most_instances),
                _whole(played.longest_queue),
                f"{played.wait_p50_seconds:.1f}",
                f"{played.wait_p99_seconds:.1f}",
                f"{played.longest_wait_seconds:.0f}",
                f"{played.late_share_undisturbed:.2%}",
                f"{played.late_share:.2%}",
                f"{alone.late_share_undisturbed:.2%}, {alone.late_share:.2%}",
            ]
        )
    heads = [
        "worker", "ms a message", "messages", "may be", "were at most", "longest queue", "wait p50 s", "p99 s", "longest s",
        f"over {assumed.objective_seconds:.0f} s, before the outage", "in the whole hour", "both, by lengths alone",
    ]  # fmt: skip
    rate = rates_of(assumed).busiest_hour / cells
    return (
        f"One cell of {cells}: {rate:.0f} orders a second in the mean of the hour, "
        f"{rate * assumed.burst:.0f} in its busiest second.\n\n" + _table(heads, rows)
    )


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _ms(number: float) -> str:
    return f"{number:.1f}" if number >= 0.05 else "0"


def _whole(number: float) -> str:
    return f"{number:,.0f}"
