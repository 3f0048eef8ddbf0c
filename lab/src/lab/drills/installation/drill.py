"""Run the drill in an own root: an overlay of this machine's files, with processes and a network of its own."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from lab.bench.programs import BenchFailed
from lab.report import Report
from lab.systems import Log
from operations.installation.plan import PACKAGES

_RELEASE: Final = Path(sys.prefix).parent
_STEPS: Final = """
set -eu
mount -t overlay overlay -o "lowerdir=/,upperdir=$ROOT/upper,workdir=$ROOT/work" "$ROOT/machine"
for part in /dev /sys; do mount --rbind "$part" "$ROOT/machine$part"; done
mount -t tmpfs tmpfs "$ROOT/machine/run"
mount -t tmpfs tmpfs "$ROOT/machine/tmp"
mkdir -p "$ROOT/machine/run/postgresql" "$ROOT/machine/run/lock"
chown postgres "$ROOT/machine/run/postgresql"
mount -t proc proc "$ROOT/machine/proc"
exec chroot "$ROOT/machine" "$@"
"""


async def drill_installation(log: Log) -> Report:
    """Install, sell, kill, boot and upgrade. Raises BenchFailed where a step fails."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise BenchFailed("this drill needs root and unshare")
    with _root() as root:
        log("packages of Debian on the empty machine")
        packages = f"DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends {' '.join(PACKAGES)}"
        await asyncio.to_thread(_enter, root, False, "sh", "-c", f"apt-get update -q && {packages}")
        stand_in = root / "upper/usr/local/bin/systemctl"
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(Path(__file__).with_name("systemctl.py"), stand_in)
        stand_in.write_text(f"#!{sys.executable}\n" + stand_in.read_text())
        stand_in.chmod(0o755)
        log("install, sell, kill, boot, upgrade")
        await asyncio.to_thread(
            _enter, root, True, sys.executable, "-m", "lab.drills.installation.inside", "/srv/result.json"
        )
        found = json.loads((root / "upper/srv/result.json").read_text())
    report = Report()
    status, memory = found.pop("status", []), found.pop("memory", {})
    report.rows |= {name: str(text) for name, text in found.items()}
    report.rows |= {f"memory of {unit} (MiB)": text for unit, text in memory.items()}
    report.rows |= {f"status: {row['subject']}": f"{row['state']} {row['found']}" for row in status}
    report.require("every step ended", "failure" not in found, holds="failure" not in found)
    again = found.get("second installation")
    report.require("second installation", again, holds=again == "nothing was changed")
    for audit in ("audit after the purchase is clean", "audit at the end"):
        report.require(audit, found.get(audit), holds=found.get(audit) is True)
    full = [unit for unit, text in memory.items() if not text.endswith(", 0 times full")]
    report.require_none("units that reached their limit of memory", full if memory else ["not measured"])
    release = str(found.get("release after the broken upgrade"))
    report.require("release after the broken upgrade", release, holds=release.endswith("/next"))
    return report


@contextmanager
def _root() -> Iterator[Path]:
    root = Path(f"/var/tmp/campus-installation-{os.getpid()}")
    for name in ("upper", "work", "machine"):
        (root / name).mkdir(parents=True)
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _enter(root: Path, has_own_network: bool, *command: str) -> None:
    spaces = ["--mount", "--pid", "--fork", "--kill-child", *(["--net"] if has_own_network else [])]
    ended = subprocess.run(
        ["unshare", *spaces, "sh", "-c", _STEPS, "sh", *command],
        env={"ROOT": str(root), "PATH": os.environ["PATH"], "HOME": "/root", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        raise BenchFailed(f"{' '.join(command)[:200]}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")
