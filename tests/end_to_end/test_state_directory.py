"""Files of a running system are readable by their owner only, except the list of processes."""

from pathlib import Path

from campus_tools.launcher.system import System
from operations.journey import Marketplace

from .conftest import Users

OPEN = {"lock", "processes.json"}


def may_be_read(path: Path, below: Path) -> bool:
    """Return whether another account of the machine can reach and read the file."""
    folders = [folder for folder in path.parents if folder.is_relative_to(below) and folder != below]
    return bool(path.stat().st_mode & 0o044) and all(folder.stat().st_mode & 0o055 for folder in folders)


async def test_no_other_user_of_the_machine_reads_logs_secrets_messages_or_queues(
    system: System, market: Marketplace, users: Users
) -> None:
    files = [path for path in system.state_dir.rglob("*") if path.is_file()]
    assert {"logs", "servers", "sandbox"} <= {path.relative_to(system.state_dir).parts[0] for path in files}
    assert {path.name for path in files if may_be_read(path, system.state_dir)} <= OPEN
    assert (system.state_dir / "secrets.env").stat().st_mode & 0o777 == 0o600
