"""A page of 50 rows of the console: the CPU time of its process alone, for the API's response, the page and both
sides.
"""

import re
import time

import httpx
import pyotp

from lab.bench.cpu import own_seconds
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Figures, Goal, Reading, Row
from lab.bench.programs import BenchFailed
from operations.processes import CONSOLE_PORT

_PATH = "/products"
_ROWS = 50


async def measure(bench: BenchEnvironment) -> list[Row]:
    """Open the vendor's list of products, one page after the other (docs/console.md)."""
    address = f"http://127.0.0.1:{bench.system.port_base + CONSOLE_PORT}"
    pid = bench.system.process("console").pid
    assert pid is not None
    async with httpx.AsyncClient(base_url=address, headers={"Origin": address}, trust_env=False) as browser:
        await _sign_in(browser, bench)

        async def run(seconds: float) -> Reading:
            before, began, pages = own_seconds(pid), time.perf_counter(), 0
            while time.perf_counter() - began < seconds:
                rows = (await browser.get(_PATH)).raise_for_status().text.count("<tr>") - 1
                if rows != _ROWS:
                    raise BenchFailed(f"{_PATH} shows {rows} rows, not {_ROWS}")
                pages += 1
            return Reading(pages, time.perf_counter() - began, cpu_seconds=own_seconds(pid) - before)

        await run(bench.effort.warm_seconds)
        readings = [await run(bench.effort.seconds) for _ in range(bench.effort.rounds)]
    return [Row("console, a page of 50 rows", "", Figures.of(readings), goals=(Goal("cpu_us", 15_000, unit=" us"),))]


async def _sign_in(browser: httpx.AsyncClient, bench: BenchEnvironment) -> None:
    """As a browser: mail address and password, then the code of the authenticator app."""
    page = await browser.get("/sign-in")
    form = {"email": "vendor@unilag.edu.ng", "password": bench.system.secrets["DEMO_PASSWORD"], "next": "/"}
    page = await browser.post("/sign-in", data={**form, "_csrf": _csrf_of(page)})
    code = pyotp.TOTP(bench.system.secrets["DEMO_TOTP_VENDOR"]).now()
    page = await browser.post("/sign-in/code", data={"code": code, "next": "/", "_csrf": _csrf_of(page)})
    if page.status_code != 303:
        raise BenchFailed("the sign-in at the console failed")


def _csrf_of(page: httpx.Response) -> str:
    found = re.search(r'name="_csrf" value="([^"]+)"', page.text)
    if found is None:
        raise BenchFailed(f"no form in the page: {page.status_code}")
    return found[1]
