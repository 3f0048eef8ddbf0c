"""Faults of processes and of the backup's metrics, by what an operator can do on this machine or cluster.

A process of `make run` is suspended (SIGSTOP), because its supervisor starts an ended one again; a unit of systemd is
stopped; a Deployment is scaled to nothing.
"""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

from operations.backup.errors import BackupFailed
from operations.backup.metrics import BACKUP_AT
from operations.backup.settings import read_backup_settings
from operations.campusctl.exits import Refused
from operations.drills.scene import Scene

_OLD_SECONDS: Final = 48 * 3600
_TIMERS: Final = ("campus-backup.timer", "campus-backup-secrets.timer")


def stop_orders(scene: Scene) -> None:
    """Stop every process of orders."""
    _stop(scene, "orders", ("orders", "orders-api", "orders-worker"))


def stop_payouts_worker(scene: Scene) -> None:
    """Stop the process that consumes the queues of payouts."""
    _stop(scene, "payouts", ("payouts", "payouts-worker"))


def start_again(scene: Scene) -> None:
    """Start what was stopped; what staff started or replaced stays as it is."""
    for pid, started in scene.facts.get("processes", ()):
        if _start_of(pid) == started:
            os.kill(pid, signal.SIGCONT)
    if unit := scene.facts.get("unit"):
        _systemctl("start", unit)
    for name, replicas in scene.facts.get("deployments", ()):
        if scene.operator.cluster is None:
            raise Refused("The drill stopped Deployments of a cluster.", "campusctl drill --undo --kubernetes")
        scene.operator.cluster.call("scale", f"deployment/{name}", f"--replicas={replicas}", "--current-replicas=0")


def age_backups(scene: Scene) -> None:
    """Set the times of the metrics back, and stop the timers that would write them again."""
    _metrics_file(scene)
    scene.remember(timers=_is_installed())
    if _is_installed():
        _systemctl("stop", *_TIMERS)
    keep_backups_old(scene)


def keep_backups_old(scene: Scene) -> None:
    """Set the times back again where a run of cron or of a person wrote the file; its times are the ones to restore."""
    path = _metrics_file(scene)
    metrics = path.read_text()
    if metrics == scene.facts.get("aged"):
        return
    old = f"{time.time() - _OLD_SECONDS:.0f}"
    aged = re.sub(rf"^({BACKUP_AT}{{[^}}]*}}) \S+$", rf"\1 {old}", metrics, flags=re.MULTILINE)
    scene.remember(metrics=metrics, aged=aged)
    path.write_text(aged)


def restore_metrics(scene: Scene) -> None:
    """Write the true times, and start the timers."""
    if "metrics" in scene.facts:
        _metrics_file(scene).write_text(scene.facts["metrics"])
    if scene.facts.get("timers"):
        _systemctl("start", *_TIMERS)


def _stop(scene: Scene, service: str, names: tuple[str, ...]) -> None:
    if cluster := scene.operator.cluster:
        found = cluster.get("deployment", *names[1:])
        scene.remember(deployments=[(name, one["spec"]["replicas"]) for name, one in found.items()])
        for name in found:
            cluster.call("scale", f"deployment/{name}", "--replicas=0")
        return
    if _is_installed():
        scene.remember(unit=f"campus-{service}")
        _systemctl("stop", f"campus-{service}")
        return
    rows = json.loads((scene.operator.own.state_dir / "processes.json").read_text())
    pids = [row["pid"] for row in rows if row["name"] in names]
    if not pids:
        raise Refused(f"No process of {service} runs on this machine.", "With containers: use --kubernetes")
    scene.remember(processes=[(pid, _start_of(pid)) for pid in pids])
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)


def _start_of(pid: int) -> str:
    """Return when the process started, in ticks: another process may have its number later."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _metrics_file(scene: Scene) -> Path:
    state_dir = scene.operator.own.state_dir
    settings = Path(os.environ.get("BACKUP_SETTINGS") or state_dir / "backup.env")
    try:
        path = read_backup_settings(settings, state_dir).metrics_file
    except BackupFailed as failed:
        raise Refused(failed.detail, failed.advice) from None
    if path is None or not path.exists():
        raise Refused("BACKUP_METRICS_FILE is not set, or not written yet.", "See docs/backup.md")
    return path


def _is_installed() -> bool:
    return bool(os.environ.get("CAMPUS_SETTINGS"))


def _systemctl(verb: str, *units: str) -> None:
    ran = subprocess.run(["systemctl", verb, *units], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise Refused(f"systemctl {verb} {' '.join(units)}: {ran.stderr.strip()}", "Run the drill as root")
