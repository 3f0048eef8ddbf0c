"""The busiest hour, simulated with a seeded random: workers, their queues, and the autoscaler of deploy/k8s.

One step is half a second. Orders arrive at random (Poisson) with a wave over the hour. The payment gateway has one
outage and then sends the delayed webhooks. A worker is killed at intervals; its messages return to the head of its
queue. Each instance has one core and spends the measured time, with variation, on a message. The databases are as fast
as measured.
"""

import math
import random
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

_FOLDER: Final = Path(__file__).parents[3] / "deploy/k8s"
_SECONDS_AN_HOUR: Final = 3_600

STEP_SECONDS: Final = 0.5
# Above this mean a normal distribution approximates Poisson.
_NORMAL_ABOVE: Final = 30.0
_LEAD_SECONDS: Final = 900.0
"""Simulated before the hour and not counted: the autoscaler is stable when the hour starts."""


MESSAGES: Final = {
    "notifications.deliveries": 1.0,
    "notifications.deliveries.email": 5.05,
    "notifications.deliveries.sms": 1.0,
    "notifications.orders": 4.0,
    "notifications.payments": 2.0,
    "notifications.payouts": 0.05,
    "orders.payments": 2.0,
    "payments.orders": 2.0,
    "payments.webhooks": 1.05,
    "payouts.payments": 2.05,
}
"""Messages per order by queue, as docs/capacity.md measured them."""
CPU_MS: Final = {"notifications-worker": 52.28, "orders-worker": 7.54, "payments-worker": 10.97, "payouts-worker": 5.22}
"""Processor time per order."""


@dataclass(frozen=True, slots=True)
class Scaling:
    """The minimum and maximum of instances, and the autoscaling targets of workers."""

    least: int
    most: int
    queue_length: int | None = None
    """Messages in one queue per worker."""
    busy_cores: float | None = None
    """Mean use of a core per worker."""


@dataclass(frozen=True, slots=True)
class Hour:
    """The load and the failures of the hour."""

    orders_a_second: float = 105.0
    """The mean of the hour in one of two cells with ten million orders a day."""
    burst: float = 1.5
    """The busiest second relative to that mean: lectures end at the full hour."""
    outage_at: float = 1_200.0
    outage_seconds: float = 120.0
    """The payment gateway sends no webhooks for this long; none is lost."""
    resend_seconds: float = 30.0
    """The gateway sends the delayed webhooks within this time."""
    killed_every: float = 600.0
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Cluster:
    """The autoscaler (deploy/k8s/components/autoscaling) and the start time of a worker, in seconds."""

    polled_every: float = 10.0
    busy_over: float = 30.0
    """The window of its mean processor use."""
    ready_after: float = 15.0
    """Scheduling, interpreter and first connections, measured in containers on two cores."""
    calm_seconds: float = 300.0
    """Kubernetes removes workers after this time with a lower target."""
    grows_every: float = 15.0
    """Kubernetes doubles the number, or adds four, at most once per this time."""


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker: messages per order by queue, and processor time per message."""

    name: str
    messages_an_order: dict[str, float]
    ms_a_message: float
    scaling: Scaling


@dataclass(frozen=True, slots=True)
class SimulatedHour:
    """The result of one worker."""

    name: str
    messages: int
    most_instances: int
    longest_queue: int
    wait_p99_seconds: float
    late_share: float
    """The share of messages that waited longer than the objective."""
    late_share_undisturbed: float
    """The share among messages before the gateway's outage."""
    left: int
    """Messages in the queue at the end."""


def workers(scaling_of: dict[str, Scaling]) -> list[Worker]:
    """Return the workers with the queues that an order fills, and their processor time per message."""
    found = []
    for name, cpu_ms in CPU_MS.items():
        service = name.removesuffix("-worker")
        messages = {queue: share for queue, share in MESSAGES.items() if queue.startswith(f"{service}.")}
        found.append(Worker(name, messages, cpu_ms / sum(messages.values()), scaling_of[name]))
    return found


def scalings(folder: Path = _FOLDER) -> dict[str, Scaling]:
    """APIs by their HorizontalPodAutoscalers, workers by their ScaledObjects; by process name."""
    found = {}
    for path in [*folder.glob("base/*/api.yaml"), *folder.glob("components/autoscaling/*.yaml")]:
        for resource in yaml.safe_load_all(path.read_text()):
            if resource["kind"] == "HorizontalPodAutoscaler":
                spec = resource["spec"]
                found[_process_name(spec)] = Scaling(spec["minReplicas"], spec["maxReplicas"])
            elif resource["kind"] == "ScaledObject":
                spec = resource["spec"]
                triggers = {trigger["type"]: str(trigger["metadata"]["value"]) for trigger in spec["triggers"]}
                found[_process_name(spec)] = Scaling(
                    spec["minReplicaCount"],
                    spec["maxReplicaCount"],
                    int(triggers["rabbitmq"]) if "rabbitmq" in triggers else None,
                    int(triggers["cpu"].removesuffix("m")) / 1000 if "cpu" in triggers else None,
                )
    return found


def _process_name(spec: dict[str, Any]) -> str:
    """Return the launcher names the API gateway's process after its service."""
    name = str(spec["scaleTargetRef"]["name"])
    return "api-gateway" if name == "api-gateway-api" else name


def simulate_hour(worker: Worker, hour: Hour, cluster: Cluster, objective_seconds: float) -> SimulatedHour:
    """Simulate one hour of one worker."""
    chance = random.Random(f"{hour.seed} {worker.name}")
    queues = {name: deque[list[float]]() for name in worker.messages_an_order}
    lengths = dict.fromkeys(queues, 0)
    instances = _Instances(worker.scaling, cluster)
    waits: list[tuple[float, int, float]] = []
    held = 0.0
    credit, total, longest = 0.0, 0, 0
    for number in range(int(-_LEAD_SECONDS / STEP_SECONDS), int(_SECONDS_AN_HOUR / STEP_SECONDS)):
        now = number * STEP_SECONDS
        rate, held = _rate(now, hour, held)
        for name, share in worker.messages_an_order.items():
            arrivals = _poisson(chance, rate * share * STEP_SECONDS)
            if arrivals:
                queues[name].append([now, arrivals])
                lengths[name] += arrivals
                total += arrivals if number >= 0 else 0
        ready = instances.at(now, lengths)
        if now > 0 and now % hour.killed_every == 0:
            instances.restart_one(now)
        # The messages that the instances can process in this step; the time of a message varies by a third.
        credit += ready * STEP_SECONDS / (worker.ms_a_message / 1000) * max(0.0, chance.gauss(1.0, 0.3))
        done = 0
        while credit >= 1 and (name := _first(queues)):
            arrived_at, waiting = queues[name][0]
            processed = min(int(credit), int(waiting))
            credit -= processed
            done += processed
            lengths[name] -= processed
            if arrived_at >= 0:
                waits.append((now + STEP_SECONDS - arrived_at, processed, arrived_at))
            if processed == waiting:
                queues[name].popleft()
            else:
                queues[name][0][1] -= processed
        if not any(lengths.values()):
            credit = min(credit, ready)
        instances.worked(done * worker.ms_a_message / 1000 / STEP_SECONDS)
        longest = max(longest, *lengths.values())
    return SimulatedHour(
        worker.name,
        total,
        instances.most,
        longest,
        _percentile(waits, 0.99),
        _late(waits, objective_seconds),
        _late([line for line in waits if line[2] < hour.outage_at], objective_seconds),
        sum(lengths.values()),
    )


class _Instances:
    """The instances of one worker: ready ones and starting ones."""

    def __init__(self, scaling: Scaling, cluster: Cluster) -> None:
        self._scaling, self._cluster = scaling, cluster
        self._ready_at = [-math.inf] * scaling.least
        self._recent_targets: deque[tuple[float, int]] = deque()
        self._grew_at = -math.inf
        self._busy_cores = 0.0
        self.most = scaling.least

    def at(self, now: float, lengths: dict[str, int]) -> int:
        """Return the number of ready instances; the autoscaler polls at its interval."""
        if now % self._cluster.polled_every == 0:
            target = self._scaling.least
            if self._scaling.queue_length:
                target = max(math.ceil(length / self._scaling.queue_length) for length in lengths.values())
            if self._scaling.busy_cores:
                target = max(target, math.ceil(self._busy_cores / self._scaling.busy_cores))
            self._scale(now, min(max(target, self._scaling.least), self._scaling.most))
        return sum(ready <= now for ready in self._ready_at)

    def worked(self, cores: float) -> None:
        """Record the cores that all instances used in this step."""
        self._busy_cores += (cores - self._busy_cores) * STEP_SECONDS / self._cluster.busy_over

    def restart_one(self, now: float) -> None:
        """Restart one instance."""
        self._ready_at.sort()
        self._ready_at[0] = now + self._cluster.ready_after

    def _scale(self, now: float, target: int) -> None:
        self._recent_targets.append((now, target))
        while self._recent_targets[0][0] < now - self._cluster.calm_seconds:
            self._recent_targets.popleft()
        there = len(self._ready_at)
        if target > there and now - self._grew_at >= self._cluster.grows_every:
            grown = min(target, max(2 * there, there + 4))
            self._ready_at += [now + self._cluster.ready_after] * (grown - there)
            self._grew_at = now
        highest = max(recent for _, recent in self._recent_targets)
        if highest < there:
            self._ready_at = sorted(self._ready_at)[:highest]
        self.most = max(self.most, len(self._ready_at))


def _rate(now: float, hour: Hour, held: float) -> tuple[float, float]:
    """Orders per second, and the number that the gateway delays during its outage."""
    # A wave with one peak: its mean is the hour's mean, its peak the busiest second.
    rate = hour.orders_a_second * (1 - (hour.burst - 1) * math.cos(2 * math.pi * max(now, 0.0) / _SECONDS_AN_HOUR))
    ended = hour.outage_at + hour.outage_seconds
    if hour.outage_at <= now < ended:
        return 0.0, held + rate * STEP_SECONDS
    if ended <= now < ended + hour.resend_seconds:
        return rate + held / hour.resend_seconds, held
    return rate, held


def _poisson(chance: random.Random, mean: float) -> int:
    if mean > _NORMAL_ABOVE:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    limit, product, number = math.exp(-mean), chance.random(), 0
    while product > limit:
        product *= chance.random()
        number += 1
    return number


def _first(queues: dict[str, deque[list[float]]]) -> str:
    """Return the queue with the oldest message; empty without messages."""
    waiting = [(queue[0][0], name) for name, queue in queues.items() if queue]
    return min(waiting)[1] if waiting else ""


def _percentile(waits: list[tuple[float, int, float]], share: float) -> float:
    total, seen = sum(processed for _, processed, _ in waits), 0
    for wait, processed, _ in sorted(waits):
        seen += processed
        if seen >= share * total:
            return wait
    return 0.0


def _late(waits: list[tuple[float, int, float]], objective_seconds: float) -> float:
    total = sum(processed for _, processed, _ in waits)
    return sum(processed for wait, processed, _ in waits if wait > objective_seconds) / total if total else 0.0
