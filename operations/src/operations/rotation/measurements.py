"""Read metrics for the verdict, from Prometheus or from the processes' metrics endpoints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

from common.primitives.tls import client_tls
from operations.rotation.verdict import REJECTED_STATUSES, Stretch

RESPONSES: Final = "gateway_requests_total"
PREVIOUS: Final = "previous_key_accepted_total"
_SECONDS_MAX: Final = 10.0


class Unmeasured(Exception):
    """The metrics could not be read; the message names the address."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The counters at one moment, summed over the processes."""

    responses: float
    refused: dict[int, float]
    previous_uses: dict[str, float]

    def minus(self, earlier: "Counted") -> "Counted":
        """Return the increase since `earlier`. A lower counter restarted with its process and counts in full."""
        return Counted(
            _since(self.responses, earlier.responses),
            {status: _since(number, earlier.refused.get(status, 0)) for status, number in self.refused.items()},
            {name: _since(number, earlier.previous_uses.get(name, 0)) for name, number in self.previous_uses.items()},
        )

    @property
    def stretch(self) -> Stretch:
        return Stretch(self.responses, self.refused)


def _since(later: float, earlier: float) -> float:
    return later - earlier if later >= earlier else later


def read_processes(urls: Sequence[str]) -> dict[str, Counted]:
    """Read the counters of each process by address; `urls` with or without `/metrics`. Raises Unmeasured."""
    return {url: _read_process(url) for url in urls}


def _read_process(url: str) -> Counted:
    address = url if url.rstrip("/").endswith("/metrics") else f"{url.rstrip('/')}/metrics"
    try:
        response = httpx.get(address, timeout=_SECONDS_MAX, trust_env=False, verify=client_tls()).raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unmeasured(f"{address} returned no metrics: {error or type(error).__name__}") from error
    return counted_in(response.text)


def counted_in(metrics: str) -> Counted:
    """Return the counters in the text of a metrics endpoint."""
    responses, refused = 0.0, dict.fromkeys(REJECTED_STATUSES, 0.0)
    previous: dict[str, float] = {}
    for family in text_string_to_metric_families(metrics):
        for sample in family.samples:
            if sample.name == RESPONSES:
                responses += sample.value
                status = int(sample.labels["status"])
                if status in refused:
                    refused[status] += sample.value
            elif sample.name == PREVIOUS:
                previous[sample.labels["secret"]] = previous.get(sample.labels["secret"], 0.0) + sample.value
    return Counted(responses, refused, previous)


def counted_between(earlier: dict[str, Counted], later: dict[str, Counted]) -> Counted:
    """Sum the increases of all processes; each is computed by itself, because each may have restarted."""
    return total([counted.minus(earlier[url]) for url, counted in later.items()])


def total(parts: Sequence[Counted]) -> Counted:
    return Counted(
        sum(part.responses for part in parts),
        {status: sum(part.refused.get(status, 0.0) for part in parts) for status in REJECTED_STATUSES},
        {
            name: sum(part.previous_uses.get(name, 0.0) for part in parts)
            for part in parts
            for name in part.previous_uses
        },
    )


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A Prometheus server with the metrics."""

    url: str

    def stretch(self, minutes: float, *, ended_minutes_ago: float = 0) -> Stretch:
        """Return the responses at the edge over `minutes`. Raises Unmeasured."""
        window = _window(minutes, ended_minutes_ago)
        found = {
            status: self._sums(f'sum(increase({RESPONSES}{{status="{status}"}}{window}))')
            for status in REJECTED_STATUSES
        }
        responses = self._sums(f"sum(increase({RESPONSES}{window}))")
        return Stretch(responses.get("", 0.0), {status: sums.get("", 0.0) for status, sums in found.items()})

    def previous_uses(self, minutes: float) -> dict[str, float]:
        """Return the uses of previous values by secret. Raises Unmeasured."""
        return self._sums(f"sum by (secret) (increase({PREVIOUS}{_window(minutes, 0)}))")

    def _sums(self, query: str) -> dict[str, float]:
        address = f"{self.url.rstrip('/')}/api/v1/query"
        try:
            response = httpx.get(
                address, params={"query": query}, timeout=_SECONDS_MAX, trust_env=False, verify=client_tls()
            )
            rows: list[dict[str, Any]] = response.raise_for_status().json()["data"]["result"]
            return {row["metric"].get("secret", ""): float(row["value"][1]) for row in rows}
        except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError, IndexError) as error:
            raise Unmeasured(f"{address} failed the query {query}: {error!r}") from error


def _window(minutes: float, ended_minutes_ago: float) -> str:
    offset = f" offset {round(ended_minutes_ago * 60)}s" if ended_minutes_ago else ""
    return f"[{round(minutes * 60)}s]{offset}"
