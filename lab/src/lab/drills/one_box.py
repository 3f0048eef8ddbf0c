"""Lose one machine under orders: PostgreSQL, the broker, the secrets and the images; restore it by `campusctl`.

The cluster is restored twice: to the last archived change, which shows how many seconds are lost (RPO), and to an
instant, with which the recovery continues as `restore` does, up to a clean audit (RTO).
"""

import asyncio
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Self
from urllib.parse import urlsplit

from campus_tools.launcher.system import System
from campus_tools.servers.backed_up import archive_to, find_pgbackrest, open_socket, start_restored
from campus_tools.servers.postgresql import PrivatePostgresql
from lab.bench.programs import BenchFailed
from lab.drills.restore import RestoreLoad, drill_restore
from lab.report import Report
from lab.systems import Log
from lab.trade import add_stock
from operations.backup.settings import BackupSettings, read_backup_settings
from operations.connecting import connected
from operations.journey import Marketplace, StepFailed

# Longer than BACKUP_ARCHIVE_SECONDS: at least one segment is archived by time.
_ORDERS_SECONDS: Final = 100.0
_ARCHIVE_SECONDS: Final = 60
# An order's row, its archived segment, and a busy machine.
_RPO_SECONDS_MAX: Final = _ARCHIVE_SECONDS + 15.0
_ARCHIVED_SECONDS_MAX: Final = 120.0
_LAST_ORDER: Final = "SELECT max(created_at) FROM orders"


@dataclass(slots=True)
class OneBox:
    """The copies that `campusctl backup` makes of a server. `folder` is the system's, `disk` another one's."""

    server: PrivatePostgresql
    folder: Path
    disk: Path
    log: Log
    settings: BackupSettings
    rows: dict[str, str] = field(default_factory=dict)
    rpo_seconds: float = 0.0
    acknowledged_at: datetime | None = None
    restored_at: float = 0.0

    @classmethod
    def of_server(cls, server: PrivatePostgresql, folder: Path, disk: Path, log: Log) -> Self:
        """Write the settings, and let the server archive from its first start on."""
        find_pgbackrest(log)
        campusctl(folder, "backup", "recovery-key", "--out", str(folder / "recovery.key"))
        public = (folder / "recovery.key").read_text().splitlines()[0].rsplit(" ", 1)[1]
        (folder / "backup.env").write_text(
            f"BACKUP_REPOSITORY={disk / 'repository'}\nBACKUP_RECOVERY_KEY={public}\n"
            f"BACKUP_FOLDER={disk / 'backup'}\nBACKUP_ARCHIVE_SECONDS={_ARCHIVE_SECONDS}\n"
        )
        settings = read_backup_settings(folder / "backup.env", folder)
        open_socket(server, disk)
        archive_to(server, settings)
        return cls(server, folder, disk, log, settings)

    def back_up(self) -> None:
        campusctl(self.folder, "backup", "init")
        began = time.monotonic()
        campusctl(self.folder, "backup", "run")
        self.rows["first backup"] = f"{time.monotonic() - began:.1f} s"

    async def archive_all(self) -> None:
        """Archive by `backup verify`, which waits for a segment, and store the secrets and images."""
        await asyncio.to_thread(campusctl, self.folder, "backup", "run", "--only", "secrets", "--only", "images")
        await asyncio.to_thread(
            campusctl, self.folder, "backup", "verify", "--recovery-key", str(self.folder / "recovery.key")
        )

    async def kill_under_orders(self, system: System, market: Marketplace) -> None:
        """Place orders, and kill the server under them."""
        self.log(f"orders for {_ORDERS_SECONDS:.0f} s, then SIGKILL of PostgreSQL")
        buyer = await market.sign_in("buyer@unilag.edu.ng")
        (product_id, *_) = await add_stock(market, await market.sign_in("vendor@unilag.edu.ng"), 1_000_000)
        until, orders = time.monotonic() + _ORDERS_SECONDS, 0
        while time.monotonic() < until:
            try:
                await market.checkout(buyer, product_id)
            except StepFailed as error:
                raise BenchFailed(f"an order before the loss: {error}") from error
            self.acknowledged_at, orders = datetime.now(UTC), orders + 1
            await asyncio.sleep(0.2)
        await asyncio.to_thread(self.server.kill)
        self.rows["orders acknowledged in the last seconds"] = str(orders)

    def destroy(self) -> None:
        """Delete what the machine had: the cluster, the secrets and the images. The repository is on another disk."""
        self.server.kill()
        shutil.rmtree(self.server.directory.resolve())
        (self.folder / "secrets.env").unlink()
        shutil.rmtree(self.folder / "media", ignore_errors=True)
        shutil.rmtree(self.disk / "backup")

    async def restore(self, until: datetime) -> None:
        """Restore to the end of the archive and measure, then to the instant; both by `campusctl restore`."""
        latest = await self._restore("latest", "latest")
        address = urlsplit(self.server.url)._replace(path="/campus_orders").geturl()
        async with connected(address) as connection:
            last = await connection.fetchval(_LAST_ORDER)
        if self.acknowledged_at is None or last is None:
            raise BenchFailed("no order was acknowledged before the loss, or none was restored")
        self.rpo_seconds = max(0.0, (self.acknowledged_at - last).total_seconds())
        self.rows["cluster restored to the last archived change after"] = f"{latest:.1f} s"
        self.server.kill()
        self.restored_at = time.monotonic()
        seconds = await self._restore(until.isoformat(), "instant")
        self.rows["cluster restored to the instant, accepts writes after"] = f"{seconds:.1f} s"
        shutil.copyfile(self.disk / "instant" / "secrets" / "secrets.env", self.folder / "secrets.env")
        (self.folder / "secrets.env").chmod(0o600)
        media = self.disk / "instant" / "images" / "media"
        if media.exists():
            shutil.copytree(media, self.folder / "media")

    async def _restore(self, to: str, name: str) -> float:
        began = time.monotonic()
        into = self.disk / name
        key = str(self.folder / "recovery.key")
        arguments = ("restore", "--to", to, "--into", str(into), "--recovery-key", key)
        await asyncio.to_thread(campusctl, self.folder, *arguments)
        await start_restored(self.server, into)
        return time.monotonic() - began

    def dump(self, database: str) -> Path:
        raise BenchFailed(f"{database}: this drill restores all databases to one instant")

    async def load(self, database: str, dump: Path) -> None:
        raise BenchFailed(f"{database}, {dump}: this drill restores all databases to one instant")


async def drill_one_box(folder: Path, each: int, log: Log) -> Report:
    """Run the drill. Raises BenchFailed where a command of campusctl fails, with its output."""
    disk = Path(os.path.realpath(f"/var/tmp/one-box-{os.getpid()}"))
    disk.mkdir(mode=0o711)
    boxes: list[OneBox] = []

    def copies_of(server: PrivatePostgresql) -> OneBox:
        boxes.append(OneBox.of_server(server, folder, disk, log))
        return boxes[0]

    try:
        report = await drill_restore(folder, RestoreLoad(each), log, copies_of=copies_of)
    finally:
        shutil.rmtree(disk, ignore_errors=True)
    box = boxes[0]
    report.rows |= box.rows
    report.rows["RTO: restored, republished, reconciled, audited"] = f"{time.monotonic() - box.restored_at:.0f} s"
    report.require_in_time(
        "RPO: orders lost with the machine", f"{box.rpo_seconds:.1f} s", holds=box.rpo_seconds <= _RPO_SECONDS_MAX
    )
    return report


def campusctl(state_dir: Path, *arguments: str) -> str:
    """Run the command as an operator does. Raises BenchFailed with its error."""
    ended = subprocess.run(
        [sys.executable, "-m", "operations.campusctl.app", *arguments],
        env={**os.environ, "STATE_DIR": str(state_dir)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode != 0:
        raise BenchFailed(f"campusctl {' '.join(arguments)}: {ended.stdout}{ended.stderr}")
    return ended.stdout
