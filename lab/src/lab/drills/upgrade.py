"""Replace an older version of the services by this one under load: schema first, then process by process.

With `--skew` both versions then run side by side on the migrated databases. Scenarios of money continue over each
change of versions, so that each version reads the messages and rows of the other.

The old code runs from a checkout of its commit, with this version's libraries, on its own schema. The databases are
migrated while it runs; then one process after another is replaced. No request may fail, and the audit must find
nothing. Of released images both versions run as containers, each with its own libraries.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePath
from typing import Final

from campus_tools.launcher.runtimes import Checkout, Runtime
from campus_tools.launcher.system import System
from campus_tools.servers import Servers
from common.messaging.declaring import COMMAND as DECLARE_BROKER
from common.messaging.declaring import DeclarationFailed
from lab.bench.programs import BenchFailed
from lab.drills.containers import containers_of, images_of
from lab.drills.doubled import DoubledSystem, doubled_system
from lab.drills.load import loaded
from lab.drills.skew import SkewedScenarios, Versions, choices_of_version
from lab.histories.recording import History
from lab.histories.verdict import record_verdict
from lab.report import Report
from lab.systems import NO_QUOTA, NO_TRACING, Log, broken_invariants, clients_of, value_of
from operations.environment import BROKER_ACCOUNTS, SHARED, machine_environment
from operations.journey import Marketplace
from operations.secrets import new_key

# The observation time of the old code, of the old code on the new schema, and of the new code.
_WATCH_SECONDS: Final = 15.0
_SOURCES: Final = ("libs/common/src", "services/*/src")
_MIGRATIONS: Final = "services/*/migrations/versions/[0-9]*.py"


async def drill_upgrade(folder: Path, old: str | None, log: Log, *, skew: Sequence[int] = ()) -> Report:
    """Upgrade from commit `old`, by default the one before the newest migration, to this version.

    `skew`: with seeds, first run both versions side by side, in the combinations of `choices_of_version`.

    Raises:
        BenchFailed: git is missing, or a database of the old commit is at a revision that this code does not have.
    """
    commit = _git("rev-parse", "--verify", f"{old}^{{commit}}") if old else _before_the_newest_migration()
    with _checked_out(commit, folder / "old") as tree:
        present = _revisions(_git("ls-files", f":(glob){_MIGRATIONS}").splitlines())
        if unknown := _newest(_revisions(str(path.relative_to(tree)) for path in tree.glob(_MIGRATIONS))) - present:
            raise BenchFailed(
                f"Databases of {commit[:10]} are at revisions that this version does not have ({min(unknown)}): they "
                "cannot be upgraded. Name a commit since the first migrations with --from."
            )
        sources = os.pathsep.join(str(path) for pattern in _SOURCES for path in sorted(tree.glob(pattern)))
        # Older code reads only the key that all services shared (decision 36), and some declares its queues itself, for
        # which the account of a service has no permission.
        before = {"SHARED_SEALING_KEY": new_key(), BROKER_ACCOUNTS: SHARED, "PYTHONPATH": sources}

        def switch(system: System) -> None:
            system.migrate({"PYTHONPATH": "", BROKER_ACCOUNTS: ""})

        new, earlier = {"PYTHONPATH": ""}, {"PYTHONPATH": sources}
        replace = partial(_skew, skew, new, earlier) if skew else _replace_all
        return await _upgrade(folder, commit[:10], _OldCheckout(), before, switch, log, replace)


class _OldCheckout(Checkout):
    """This checkout, whose processes have the code in `PYTHONPATH`; the broker has the queues of that version, too."""

    def provision_broker(self, servers: Servers, secrets: Mapping[str, str], settings: Mapping[str, str]) -> None:
        super().provision_broker(servers, secrets, settings)
        if sources := settings.get("PYTHONPATH"):
            environment = {**machine_environment(os.environ), "PYTHONPATH": sources, "BROKER_URL": servers.broker_url}
            command = [sys.executable, "-m", "orders", DECLARE_BROKER]
            ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            # The first versions have no such command.
            if ran.returncode != 0 and "expected one of" not in ran.stderr:
                raise DeclarationFailed(ran.stderr)


async def drill_upgrade_of_images(folder: Path, old: Path, new: Path, log: Log) -> Report:
    """Upgrade from the released images that `images.txt` of folder `old` names to those of folder `new`.

    Raises:
        BenchFailed: a folder has no `images.txt`.
    """
    before, after = images_of(old), images_of(new)
    with containers_of(before) as containers:

        def switch(system: System) -> None:
            containers.images = after
            system.migrate({})

        return await _upgrade(folder, before["campus-orders"], containers, {}, switch, log)


async def _replace_all(doubled: DoubledSystem, market: Marketplace, report: Report, log: Log) -> None:
    """Replace the old version, process by process."""
    log("replacing process by process")
    began = time.monotonic()
    rolled = await doubled.roll(every=True)
    report.rows["processes replaced"] = f"{len(rolled)}, in {time.monotonic() - began:.1f} s"


async def _skew(
    seeds: Sequence[int],
    new: Mapping[str, str],
    old: Mapping[str, str],
    doubled: DoubledSystem,
    market: Marketplace,
    report: Report,
    log: Log,
) -> None:
    """Run scenarios on each combination of versions, at the end on the new one. `new`, `old`: their variables."""
    scenarios = await SkewedScenarios.open(doubled.system, market)
    await scenarios.advance(Versions("the old version", lambda _: False))
    replaced = 0
    for versions in choices_of_version(seeds):
        log(f"running {versions.name}")
        # Processes of the chosen version already have its variables. Those of the new one are set last, for the audit.
        for is_chosen, variables in ((lambda plan, of=versions: not of.is_new(plan), old), (versions.is_new, new)):
            doubled.system.configure(variables)
            replaced += len(await doubled.roll(every=False, among=is_chosen))
        await scenarios.advance(versions)
    report.rows["seeds of versions, processes replaced"] = f"{len(seeds)}, {replaced}"
    await scenarios.finish(report)


async def _upgrade(
    folder: Path,
    old: str,
    runtime: Runtime,
    environment: Mapping[str, str],
    switch: Callable[[System], None],
    log: Log,
    replace: Callable[[DoubledSystem, Marketplace, Report, Log], Awaitable[None]] = _replace_all,
) -> Report:
    """Start the version `old`, and replace it under load. `switch` migrates; later starts run the new version."""
    log(f"starting {old}, two instances of each API process")
    report, settings = Report({"from": old}), {**NO_QUOTA, **NO_TRACING, **environment}
    async with (
        doubled_system(str(folder / "state"), settings, runtime=runtime) as doubled,
        clients_of(doubled.system, History.new("upgrade"), patient=False) as market,
    ):
        system = doubled.system
        async with loaded(system, market, assistant=None) as load:
            await asyncio.sleep(_WATCH_SECONDS)
            first, began = await _last_revisions(system), time.monotonic()
            log("migrating under the old code")
            await asyncio.to_thread(switch, system)
            seconds, revisions = time.monotonic() - began, await _last_revisions(system) - first
            report.rows["revisions applied under the old code"] = f"{revisions}, in {seconds:.1f} s"
            await asyncio.sleep(_WATCH_SECONDS)
            await replace(doubled, market, report, log)
            await asyncio.sleep(_WATCH_SECONDS)
        load.record_in(report)
        report.require_none("violated invariants of the audit", await broken_invariants(system, market, log))
        await record_verdict(report, system, market)
    return report


async def _last_revisions(system: System) -> int:
    """Return the sum of the databases' newest revisions, which are numbered from 1."""
    newest = "SELECT version_num::int FROM alembic_version"
    return sum([await value_of(system, service.import_name, newest) for service in system.plan.services])


def _before_the_newest_migration() -> str:
    """Return the newest commit that lacks a migration, and whose databases this version upgrades; while each service
    has only its first migration, the commit that wrote the last of them.
    """
    present = _revisions(_git("ls-files", f":(glob){_MIGRATIONS}").splitlines())
    changes = _git("log", "--format=%H", "--no-renames", "--", f":(glob){_MIGRATIONS}").splitlines()
    if present == _newest(present):
        return changes[0]
    for change in changes:
        before = _revisions(_git("ls-tree", "-r", "--name-only", f"{change}~1", "--", "services").splitlines())
        if _newest(before) < present:
            return _git("rev-parse", f"{change}~1")
    raise BenchFailed("No earlier commit has databases that this version upgrades.")


def _revisions(paths: Iterable[str]) -> set[tuple[str, str]]:
    """Return the service and the number of each migration among the paths of a tree."""
    files = [PurePath(path) for path in paths]
    return {(file.parts[1], file.name[:4]) for file in files if file.match(_MIGRATIONS)}


def _newest(revisions: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return set(dict(sorted(revisions)).items())


@contextmanager
def _checked_out(commit: str, path: Path) -> Iterator[Path]:
    _git("worktree", "add", "--detach", "--quiet", str(path), commit)
    try:
        yield path
    finally:
        _git("worktree", "remove", "--force", str(path))


def _git(*arguments: str) -> str:
    ran = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise BenchFailed(f"git {' '.join(arguments)}: {ran.stderr.strip()}")
    return ran.stdout.strip()
