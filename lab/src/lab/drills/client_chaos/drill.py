"""Kill servers while the users of both clients buy, sell and are paid; then audit, and check the history of all
calls.
"""

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import urlsplit

from campus_tools.launcher.supervisor import SupervisedProcess
from campus_tools.launcher.system import System
from campus_tools.servers.server import Server
from lab.drills.client_chaos.network import Cuts, served
from lab.histories.reading import read_history
from lab.histories.recording import RecordingClient
from lab.histories.verdict import ANOMALIES, record_verdict
from lab.report import Report
from lab.systems import Log, broken_invariants
from lab.trade import add_product, hand_over, purchase
from operations.journey import Marketplace

_TYPESCRIPT: Final = Path("clients/typescript/scripts/chaos.mjs")
# The Python client is no package of the workspace.
_PYTHON_CLIENT: Final = {"PYTHONPATH": "clients/python/src"}
_UP: Final = 'ip link set lo up && exec "$@"'
_NAMESPACE: Final = ("unshare", "--user", "--map-root-user", "--net", "sh", "-c", _UP, "sh")
# Enough for each payout that the vendor requests.
_FUND_MINOR: Final = 100_000_000
# The gateway is not ours, and the demo's users have no other part of the console.
_NOT_KILLED: Final = ("sandbox", "console")
_CUT_RATE: Final = 0.08
_KILL_SECONDS: Final = 5.0
_SERVER_DOWN_SECONDS: Final = 2.0
_RESTART_SECONDS: Final = 60.0


async def drill_client_chaos(
    system: System, market: Marketplace, log: Log, *, rounds: int, seed: int, is_planted: bool
) -> Report:
    """Run the drill with so many rounds of each user; the TypeScript client must be built.

    `is_planted`: the clients repeat requests with new keys, and the drill holds when the checker finds it. Raises
    TypeError when the marketplace records no history.
    """
    if not isinstance(market.http, RecordingClient):
        raise TypeError("the client records no history")
    history = market.http.history
    vendor, buyer = await market.sign_in("vendor@unilag.edu.ng"), await market.sign_in("buyer@unilag.edu.ng")
    order_id = await purchase(market, buyer, await add_product(market, vendor, 2 * _FUND_MINOR, 1))
    await hand_over(market, vendor, buyer, order_id)
    await market.wallet_reaches(vendor, _FUND_MINOR)
    product_id = await add_product(market, vendor, 50_000, 1_000_000)
    common = {
        "history": str(history.path.resolve()),
        "password": system.secrets["DEMO_PASSWORD"],
        "productId": product_id,
        "rounds": rounds,
        "seed": seed,
        "plant": is_planted,
        "is_vendor": False,
    }
    python = (sys.executable, "clients/python/scripts/chaos.py")
    users: list[tuple[str, Sequence[str], Mapping[str, Any]]] = [
        ("typescript-buyer", ("node", str(_TYPESCRIPT)), {"email": "buyer@unilag.edu.ng"}),
        ("python-buyer", python, {"email": "buyer2@unilag.edu.ng"}),
        ("python-vendor", python, {"email": "vendor@unilag.edu.ng", "is_vendor": True}),
    ]
    cuts, report = Cuts(_CUT_RATE, seed), Report()
    namespace = _NAMESPACE if await _may_separate() else ()
    log(f"{len(users)} users, {'each in its own network namespace' if namespace else 'without network namespaces'}")
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="campus-clients-")))
        for name, url, some in (("api", system.base_url, cuts), ("sandbox", system.sandbox_url, Cuts(0.0, 0))):
            await stack.enter_async_context(served(folder / name, urlsplit(url).port or 0, some))
        inside = (*namespace, sys.executable, "-m", "lab.drills.client_chaos.network", str(folder))
        everyone = asyncio.gather(
            *(_run((*inside, *program), {**common, "name": name, **more}) for name, program, more in users)
        )
        killed = await _kill_until(everyone, system, Random(seed), log)
    statuses = await everyone
    report.require("exit statuses of the users", statuses, holds=not any(statuses))
    report.rows["network namespaces"] = str(len(users) if namespace else 0)
    report.rows["lost responses"] = str(cuts.count)
    report.rows["killed"] = ", ".join(f"{name} {count}" for name, count in sorted(killed.items()))
    log("paying out")
    report.rows["payouts"] = str(await _pay_out(market))
    report.require_none("violated invariants of the audit", await broken_invariants(system, market, log))
    await record_verdict(report, system, market)
    operations = read_history(history.path)[-1].operations
    unknown = sum(one.type == "info" for one in operations)
    report.rows["recorded calls, without a known outcome"] = f"{len(operations)}, {unknown}"
    if is_planted:
        found = "double effect" in report.rows[ANOMALIES]
        report.broken = [what for what in report.broken if what != ANOMALIES]
        report.require("planted repetitions with new keys are found", found, holds=found)
    return report


async def _may_separate() -> bool:
    """Return whether this machine lets its user make a network namespace."""
    return shutil.which(_NAMESPACE[0]) is not None and await _run((*_NAMESPACE, "true"), {}) == 0


async def _run(command: Sequence[str], settings: Mapping[str, Any]) -> int:
    process = await asyncio.create_subprocess_exec(*command, json.dumps(settings), env=os.environ | _PYTHON_CLIENT)
    return await process.wait()


async def _kill_until(users: "asyncio.Future[list[int]]", system: System, random: Random, log: Log) -> Counter[str]:
    """Kill one process or server after the other until the users have ended, and count them; each is running again."""
    killed = Counter[str]()
    victims: list[SupervisedProcess | Server] = [system.servers.postgresql, system.servers.rabbitmq]
    victims += [process for process in system.processes if process.name not in _NOT_KILLED]
    while not (await asyncio.wait([users], timeout=_KILL_SECONDS))[0]:
        victim = random.choice(victims)
        log(f"killing {victim.name}")
        killed[victim.name] += 1
        if isinstance(victim, SupervisedProcess):
            before = await asyncio.to_thread(victim.kill)
            await asyncio.to_thread(victim.wait_restarted, before, _RESTART_SECONDS)
        else:
            await asyncio.to_thread(victim.kill)
            await asyncio.sleep(_SERVER_DOWN_SECONDS)
            await asyncio.to_thread(victim.start)
    return killed


async def _pay_out(market: Marketplace) -> int:
    """Dispatch all payouts until each is processed, and return their number."""
    vendor = await market.sign_in("vendor@unilag.edu.ng")
    maker = await market.sign_in_with_two_factors("maker@campus.example", "MAKER")
    ids = [payout["id"] for payout in await market.get("/api/payouts", vendor, params={"limit": 100})]
    await market.dispatch_payouts(maker, ids)
    for payout_id in ids:
        await market.payout_reaches(vendor, payout_id, "processed", within=120.0)
    return len(ids)
