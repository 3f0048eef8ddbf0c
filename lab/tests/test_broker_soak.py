"""The disk of a broker that writes and removes its files meanwhile."""

import os
from pathlib import Path
from typing import Any, cast

import pytest

from lab.soak.broker import BrokerLoad, _Soak


def test_the_disk_is_measured_while_the_broker_removes_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("queue/1.segment", "queue/1.wal", "snapshots/2.segment"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"x" * 5_000)
    scandir = os.scandir

    def removed(path: Any = ".") -> Any:
        if str(path).endswith("snapshots"):
            raise FileNotFoundError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", removed)
    disk = _Soak(BrokerLoad(1, "", "", tmp_path), cast("Any", print)).disk()
    assert (disk.segments, disk.segment_bytes > 0, disk.log_bytes > 0) == (1, True, True)
