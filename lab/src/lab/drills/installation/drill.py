"""Run the drill on an empty machine that systemd boots and whose power fails, and restore it on a second one."""

import asyncio
import json
import os
import shutil
import sys
import time
from typing import Any

from lab.bench.programs import BenchFailed
from lab.drills.installation.inside import KEPT
from lab.drills.installation.machine import EmptyMachine, empty_machine
from lab.report import Report
from lab.systems import Log
from operations.installation.plan import PACKAGES


async def drill_installation(log: Log) -> Report:
    """Install, sell, kill, boot, upgrade and restore. Raises BenchFailed where a step fails."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise BenchFailed("this drill needs root and unshare")
    began = time.monotonic()
    with empty_machine("installation") as machine:
        await asyncio.to_thread(_new_machine, machine, log)
        await asyncio.to_thread(_play, machine, "sell", log)
        sold = time.monotonic() - began
        log("the power fails")
        await asyncio.to_thread(machine.fail_power)
        booted = await asyncio.to_thread(_boot, machine, log)
        found = await asyncio.to_thread(_play, machine, "upgrade", log)
        await asyncio.to_thread(machine.fail_power)
        failed_at = time.monotonic()
        with empty_machine("restored") as other:
            log("the machine is lost; an empty one has the repository, the recovery key and the providers")
            other.copy_from(machine, *KEPT)
            await asyncio.to_thread(_new_machine, other, log)
            found |= await asyncio.to_thread(_play, other, "restore", log)
            restored = time.monotonic() - failed_at
    found["from the empty machine to the paid order"] = f"{sold:.0f} s"
    found["systemd has started all units after the loss of power"] = f"{booted:.0f} s"
    found["from the lost machine to a verified backup of the empty one"] = f"{restored:.0f} s"
    report = Report()
    status, memory = found.pop("status", []), found.pop("memory", {})
    report.rows |= {name: str(text) for name, text in found.items()}
    report.rows |= {f"memory of {unit} (MiB)": text for unit, text in memory.items()}
    report.rows |= {f"status: {row['subject']}": f"{row['state']} {row['found']}" for row in status}
    again = found.get("second installation")
    report.require("second installation", again, holds=again == "nothing was changed")
    for audit in ("audit after the purchase is clean", "audit at the end", "audit after the restore"):
        report.require(audit, found.get(audit), holds=found.get(audit) is True)
    full = [unit for unit, text in memory.items() if not text.endswith(", 0 times full")]
    report.require_none("units that reached their limit of memory", full if memory else ["not measured"])
    release = str(found.get("release after the broken upgrade"))
    report.require("release after the broken upgrade", release, holds=release.endswith("/next"))
    lost = found.get("orders lost by the restore")
    report.require("orders lost by the restore", str(lost), holds=lost == 0)
    return report


def _new_machine(machine: EmptyMachine, log: Log) -> None:
    """Install Debian's packages, and boot."""
    log("packages of Debian on the empty machine")
    machine.install(*PACKAGES)
    _boot(machine, log)


def _boot(machine: EmptyMachine, log: Log) -> float:
    log("boot")
    began = time.monotonic()
    machine.boot()
    return time.monotonic() - began


def _play(machine: EmptyMachine, part: str, log: Log) -> dict[str, Any]:
    log(part)
    machine.run(sys.executable, "-m", "lab.drills.installation.inside", part, "/srv/result.json")
    found: dict[str, Any] = json.loads((machine.disk / "srv/result.json").read_text())
    if "failure" in found:
        raise BenchFailed(f"{found}\n{machine.run('journalctl', '--no-pager', '--priority=warning', '--lines=60')}")
    return found
