"""The gateway's metrics, counted in plain dictionaries and exported on a scrape.

A labelled prometheus counter and histogram take 5 us a request, these 0.5 us.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import REGISTRY, Collector, CollectorRegistry

_BUCKETS_SECONDS: Final = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics(Collector):
    """Requests by route and status, their duration by route, and the gateway's own decisions."""

    def __init__(self) -> None:
        self._requests: defaultdict[tuple[str, int], int] = defaultdict(int)
        self._buckets: defaultdict[str, list[int]] = defaultdict(lambda: [0] * (len(_BUCKETS_SECONDS) + 1))
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self.rate_limited: defaultdict[str, int] = defaultdict(int)
        self.idempotency: defaultdict[str, int] = defaultdict(int)
        self.upstream_failures: defaultdict[str, int] = defaultdict(int)
        self.page_cache: defaultdict[str, int] = defaultdict(int)
        self.shed: defaultdict[str, int] = defaultdict(int)
        self.quota_fallback: defaultdict[str, int] = defaultdict(int)
        self.in_flight: Callable[[], int] = lambda: 0
        self.in_flight_max = 0

    def publish(self, registry: CollectorRegistry = REGISTRY) -> None:
        """Export the numbers under `/metrics` of the process."""
        registry.register(self)

    def record_request(self, route: str, status: int, seconds: float) -> None:
        self._requests[route, status] += 1
        self._buckets[route][bisect_left(_BUCKETS_SECONDS, seconds)] += 1
        self._seconds[route] += seconds

    def collect(self) -> Iterator[Metric]:
        requests = CounterMetricFamily("gateway_requests", "Responses by route and status.", labels=["route", "status"])
        for (route, status), count in [*self._requests.items()]:
            requests.add_metric([route, str(status)], count)
        yield requests
        yield self._histogram()
        yield _counter("gateway_rate_limited", "Requests rejected by a quota, by tier.", "tier", self.rate_limited)
        yield _counter(
            "gateway_idempotency",
            "Requests with an idempotency key, by the state of the key.",
            "found",
            self.idempotency,
        )
        yield _counter(
            "gateway_upstream_failures",
            "Requests without a response of the service.",
            "upstream",
            self.upstream_failures,
        )
        yield GaugeMetricFamily("gateway_requests_in_flight", "Requests in progress.", value=self.in_flight())
        yield GaugeMetricFamily(
            "gateway_requests_in_flight_max", "Limit of requests of users in progress.", value=self.in_flight_max
        )
        yield _counter(
            "gateway_shed",
            "Requests rejected because too many were in progress, by kind of caller.",
            "whose",
            self.shed,
        )
        yield _counter(
            "gateway_quota_store_away",
            "Requests while the quota store was unavailable, by outcome: counted in this process, or rejected.",
            "outcome",
            self.quota_fallback,
        )
        yield _counter(
            "gateway_page_cache", "Anonymous reads of shared pages, by cache result.", "found", self.page_cache
        )

    def _histogram(self) -> Metric:
        seconds = HistogramMetricFamily(
            "gateway_request_seconds",
            "Time from the head of a request to the last byte of its response.",
            labels=["route"],
        )
        for route, counts in [*self._buckets.items()]:
            below, buckets = 0, []
            for bound, count in zip((*_BUCKETS_SECONDS, float("inf")), counts, strict=True):
                below += count
                buckets.append(("+Inf" if bound == float("inf") else str(bound), float(below)))
            seconds.add_metric([route], buckets, self._seconds[route])
        return seconds


def _counter(name: str, meaning: str, label: str, counts: dict[str, int]) -> Metric:
    family = CounterMetricFamily(name, meaning, labels=[label])
    for value, count in [*counts.items()]:
        family.add_metric([value], count)
    return family
