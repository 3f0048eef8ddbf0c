"""All metrics: those of the services, read from the code, and those of the programs around them."""

import importlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Final

from prometheus_client import PROCESS_COLLECTOR
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.metrics_core import Metric as Family

from api_gateway.metrics import Metrics
from common.ledger.chain_loops import LedgerChain
from common.observability import telemetry

SERVICES: Final = ("api-gateway", "identity", "orders", "payments", "payouts", "notifications")
EVERY_PROCESS: Final = "every process"
# Labels that Prometheus adds to each sample, by the targets of prometheus.yml.
TARGET_LABELS: Final = frozenset({"job", "instance", "service", "process"})


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric: its exported `name`, its Prometheus type (`kind`) and the program that exports it (`holder`)."""

    name: str
    kind: str
    labels: tuple[str, ...]
    meaning: str
    holder: str

    @property
    def series(self) -> frozenset[str]:
        """The names of its series in queries."""
        if self.kind == "counter":
            return frozenset({self.name})
        parts = ("_bucket", "_count", "_sum") if self.kind == "histogram" else ("",)
        return frozenset(self.name + part for part in parts)

    @property
    def known_labels(self) -> frozenset[str]:
        """The labels that queries may filter or group by."""
        return TARGET_LABELS | set(self.labels) | ({"le"} if self.kind == "histogram" else set())


# RabbitMQ's own plugin `rabbitmq_prometheus` at /metrics/detailed, and cert-manager where it renews the certificates.
AROUND_US: Final = (
    Metric("up", "gauge", (), "1 when the target answered the last time, else 0.", "Prometheus"),
    Metric(
        "rabbitmq_detailed_queue_messages_ready",
        "gauge",
        ("queue", "vhost"),
        "Messages of a queue that no consumer has in hand.",
        "RabbitMQ",
    ),
    Metric(
        "rabbitmq_detailed_queue_messages_unacked",
        "gauge",
        ("queue", "vhost"),
        "Messages of a queue that a consumer has in hand.",
        "RabbitMQ",
    ),
    Metric("rabbitmq_detailed_queue_consumers", "gauge", ("queue", "vhost"), "Consumers of a queue.", "RabbitMQ"),
    Metric(
        "rabbitmq_detailed_queue_info",
        "gauge",
        ("queue", "vhost", "queue_type", "membership"),
        "1 for each member of a queue, from RabbitMQ 4.1 on.",
        "RabbitMQ",
    ),
    Metric("rabbitmq_alarms_memory_used_watermark", "gauge", (), "1 while the broker is short of memory.", "RabbitMQ"),
    Metric(
        "rabbitmq_alarms_free_disk_space_watermark", "gauge", (), "1 while the broker is short of disk.", "RabbitMQ"
    ),
    Metric(
        "certmanager_certificate_expiration_timestamp_seconds",
        "gauge",
        ("name", "namespace"),
        "When a certificate ends, Unix time; on Kubernetes.",
        "cert-manager",
    ),
    Metric(
        "campus_certificate_expiration_timestamp_seconds",
        "gauge",
        ("name",),
        "When the certificate of a host ends, Unix time; on one machine.",
        "campusctl backup run",
    ),
    Metric(
        "campus_backup_timestamp_seconds",
        "gauge",
        ("part",),
        "When the last backup of a part ended on one machine, Unix time; 0 without one.",
        "campusctl backup run",
    ),
    Metric(
        "campus_backup_archived_timestamp_seconds",
        "gauge",
        (),
        "When the last segment of WAL was archived, Unix time; 0 without one.",
        "campusctl backup run",
    ),
    Metric(
        "campus_backup_archiving_failing",
        "gauge",
        (),
        "1 while the last attempt to archive a segment failed.",
        "campusctl backup run",
    ),
    Metric(
        "campus_backup_checked_timestamp_seconds",
        "gauge",
        (),
        "When the metrics of backups were written, Unix time.",
        "campusctl backup run",
    ),
    *(
        Metric(name, "gauge", (), meaning, "campusctl backup run")
        for name, meaning in (
            ("campus_database_transaction_seconds", "Age of the oldest transaction of a client."),
            ("campus_database_idle_in_transaction_seconds", "Longest time for which a transaction has been idle."),
            ("campus_database_lock_wait_seconds", "Longest wait of a statement for a lock."),
            ("campus_database_transaction_id_age", "Age of the oldest unfrozen transaction id, of two billion."),
        )
    ),
    *(
        Metric(name, "gauge", labels, meaning, holder)
        for name, labels, meaning, holder in (
            ("cnpg_backends_max_tx_duration_seconds", ("datname",), "Age of the oldest transaction.", "CloudNativePG"),
            ("cnpg_pg_database_xid_age", ("datname",), "Age of the oldest unfrozen transaction id.", "CloudNativePG"),
            ("cnpg_pg_replication_lag", ("pod",), "Seconds that a standby is behind.", "CloudNativePG"),
            ("node_filesystem_avail_bytes", ("mountpoint", "fstype"), "Free bytes of a volume.", "node exporter"),
            ("node_filesystem_size_bytes", ("mountpoint",), "Bytes of a volume.", "node exporter"),
            ("kubelet_volume_stats_available_bytes", ("persistentvolumeclaim",), "Free bytes of a volume.", "kubelet"),
            ("kubelet_volume_stats_capacity_bytes", ("persistentvolumeclaim",), "Bytes of a volume.", "kubelet"),
            ("node_timex_offset_seconds", (), "Difference of the clock from its source.", "node exporter"),
            ("node_timex_sync_status", (), "1 while the clock is synchronised.", "node exporter"),
        )
    ),
)


def ours() -> list[Metric]:
    """Return the metrics of the services' processes; common ones first."""
    found = [*_of_module(telemetry, EVERY_PROCESS), *_of_families(PROCESS_COLLECTOR.collect(), EVERY_PROCESS)]
    found += _of_families(Metrics().collect(), "api-gateway")
    for service in SERVICES:
        name = f"{service.replace('-', '_')}.metrics"
        if find_spec(name):
            found += _of_module(importlib.import_module(name), service)
    return found


def inventory() -> list[Metric]:
    """Return the metrics of the services and of the programs around them."""
    return [*ours(), *AROUND_US]


def by_series() -> dict[str, Metric]:
    """Return the metric of each series name."""
    return {name: metric for metric in inventory() for name in metric.series}


def _of_module(module: ModuleType, holder: str) -> Iterator[Metric]:
    for value in vars(module).values():
        if isinstance(value, MetricWrapperBase):
            yield _of_wrapper(value, holder)
        elif isinstance(value, LedgerChain):
            yield from (
                _of_wrapper(part, holder) for part in vars(value).values() if isinstance(part, MetricWrapperBase)
            )


def _of_wrapper(wrapper: MetricWrapperBase, holder: str) -> Metric:
    family: Any = next(iter(wrapper.describe()))
    return _of_family(family, tuple(wrapper._labelnames), holder)


def _of_families(families: Iterable[Family], holder: str) -> Iterator[Metric]:
    for family in families:
        yield _of_family(family, tuple(getattr(family, "_labelnames", ())), holder)


def _of_family(family: Family, labels: tuple[str, ...], holder: str) -> Metric:
    name = f"{family.name}_total" if family.type == "counter" else family.name
    return Metric(name, family.type, labels, family.documentation, holder)
