"""Measure the CPU time of the console's process for a page of 50 rows, in a running system.

    .venv/bin/python -m lab.console_pages --state-dir .state --port-base 8080

The vendor's list of products is requested one by one. CPU time is that of the console alone: parsing the API's response,
the page, and the connections of both sides.
"""

import argparse
import asyncio
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import httpx
import pyotp

from lab.bench.cpu import own_seconds
from lab.systems import RunningSystem
from operations.processes import CONSOLE_PORT

PATH: Final = "/products"
ACCOUNT: Final = ("vendor@unilag.edu.ng", "VENDOR")
ROWS: Final = 50
WARM_UP_PAGES: Final = 20
ROUNDS: Final = 5
PAGES_OF_ROUND: Final = 40
TARGET_MS: Final = 15.0
"""The most that a page of 50 rows may cost (docs/console.md)."""


async def measure_pages(system: RunningSystem) -> list[float]:
    """Return the milliseconds of CPU for a page, one figure for each round."""
    pid = system.pids()["console"]
    address = f"http://127.0.0.1:{system.port_base + CONSOLE_PORT}"
    async with httpx.AsyncClient(base_url=address, headers={"Origin": address}, trust_env=False) as browser:
        await _sign_in(browser, system)
        first = await _open_page(browser)
        rows = first.count("<tr>") - 1
        if rows != ROWS:
            raise SystemExit(f"{PATH} shows {rows} rows, not {ROWS}: load the demo data (DEMO_DATA=1)")
        for _ in range(WARM_UP_PAGES):
            await _open_page(browser)
        rounds = []
        for _ in range(ROUNDS):
            before = own_seconds(pid)
            for _ in range(PAGES_OF_ROUND):
                await _open_page(browser)
            rounds.append((own_seconds(pid) - before) * 1000 / PAGES_OF_ROUND)
        return rounds


async def _open_page(browser: httpx.AsyncClient) -> str:
    response = await browser.get(PATH)
    if response.status_code != 200:
        raise SystemExit(f"GET {PATH}: {response.status_code}")
    return response.text


async def _sign_in(browser: httpx.AsyncClient, system: RunningSystem) -> None:
    """As a browser: mail address and password, then the code of the authenticator app."""
    address, name = ACCOUNT
    page = await browser.get("/sign-in")
    form = {"email": address, "password": system.secrets["DEMO_PASSWORD"], "next": "/", "_csrf": _csrf_of(page)}
    page = await browser.post("/sign-in", data=form)
    code = pyotp.TOTP(system.secrets[f"DEMO_TOTP_{name}"]).now()
    page = await browser.post("/sign-in/code", data={"code": code, "next": "/", "_csrf": _csrf_of(page)})
    if page.status_code != 303:
        raise SystemExit("the sign-in failed: a code is accepted once in 30 seconds, try again")


def _csrf_of(page: httpx.Response) -> str:
    found = re.search(r'name="_csrf" value="([^"]+)"', page.text)
    if found is None:
        raise SystemExit(f"no form in the page: {page.status_code}")
    return found[1]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the figures; status 1 when a page costs more than the target."""
    parser = argparse.ArgumentParser(description="CPU time of the console for a page of 50 rows.")
    parser.add_argument("--state-dir", type=Path, default=Path(".state"))
    parser.add_argument("--port-base", type=int, default=8080)
    given = parser.parse_args(arguments)
    rounds = asyncio.run(measure_pages(RunningSystem.at(given.state_dir, given.port_base)))
    median = statistics.median(rounds)
    print(
        f"{PATH}, {ROWS} rows: {median:.1f} ms of CPU (rounds {min(rounds):.1f} to {max(rounds):.1f}), at most {TARGET_MS:g}"
    )
    raise SystemExit(median > TARGET_MS)


if __name__ == "__main__":
    main()
