"""Limits of the edge's waits and buffers: those that no operator sets, and tests replace."""

from dataclasses import dataclass

from common.primitives.limits import WAIT_LIMITS


@dataclass(frozen=True, slots=True)
class EdgeLimits:
    """Durations are in seconds."""

    connect_seconds_max: float = 2.0
    queue_seconds_max: float = 2.0
    """The longest wait for a free connection."""
    idle_seconds_max: float = 1.5
    """The gateway closes idle connections. A draining service responds for 2 s more (SHUTDOWN_DRAIN_SECONDS), each
    response as the last one of its connection. The idle limit is shorter, so no request is sent on a connection whose
    process has ended.
    """
    readiness_seconds_max: float = 1.0
    """A slower service counts as unreachable; it delays a probe by no more than this."""
    work_seconds_max: float = 3.0
    """A service counts its work in milliseconds. The work of the others is more useful than all of it late."""
    quota_store_seconds_max: float = 0.5
    acquire_seconds_max: float = WAIT_LIMITS.connection_acquire
    """The longest wait for a connection of the database's pool."""
    cached_pages_max: int = 1_000
    """A thousand pages of 20 products are 10 MB. The least recently used page is evicted."""
    cached_bytes_max: int = 16 * 1024 * 1024


LIMITS = EdgeLimits()
