"""A drill ends where the broker or the gateway never responds, and holds its fault against a backup meanwhile."""

import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from operations.campusctl.exits import Refused
from operations.drills import machines, messages
from operations.drills.scene import Scene

SECONDS = 0.2


@pytest.fixture
def unresponsive_port() -> Iterator[int]:
    """Return the port of a server that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def scene(unresponsive_port: int, tmp_path: Path) -> Scene:
    own = SimpleNamespace(
        state_dir=tmp_path, broker_administrator=lambda: f"amqp://admin:secret@127.0.0.1:{unresponsive_port}/"
    )
    return Scene(cast("Any", SimpleNamespace(own=own, base_url=f"http://127.0.0.1:{unresponsive_port}")))


def test_a_broker_that_never_responds_ends_the_drill(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_BROKER_SECONDS_MAX", SECONDS)
    with pytest.raises(Refused, match="The broker did not accept the message: TimeoutError") as refused:
        messages.plant_forged_message(scene)
    assert "secret" not in str(refused.value)


def test_a_gateway_that_never_responds_ends_the_drill(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_GATEWAY_SECONDS_MAX", SECONDS)
    with pytest.raises(Refused, match="The gateway did not answer the webhook: ReadTimeout"):
        messages.send_unsigned_webhook(scene)


def test_a_backup_during_the_drill_ends_neither_its_fault_nor_its_times(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = tmp_path / "campus-backup.prom"
    monkeypatch.setattr(machines, "_metrics_file", lambda _: metrics)

    def written(at: int) -> str:
        return (
            f'campus_backup_timestamp_seconds{{part="database"}} {at}\ncampus_backup_checked_timestamp_seconds {at}\n'
        )

    metrics.write_text(written(2_000_000_000))
    machines.age_backups(scene)
    aged = metrics.read_text()
    assert 'part="database"} 2000000000' not in aged
    machines.keep_backups_old(scene)
    assert metrics.read_text() == aged
    metrics.write_text(written(2_000_000_300))
    machines.keep_backups_old(scene)
    assert 'part="database"} 2000000300' not in metrics.read_text()
    machines.restore_metrics(scene)
    assert metrics.read_text() == written(2_000_000_300)
