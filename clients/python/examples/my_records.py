"""Everything that the marketplace keeps of the person who signs in, as one JSON document, or as a ZIP of one file for each service.

    python clients/python/examples/my_records.py --base-url http://localhost:8080 --to my-records.zip buyer@unilag.edu.ng

The password is read from CAMPUS_PASSWORD.
"""

import argparse
import asyncio
import json
import os
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from campus_client import Campus, Page, each

Records = dict[str, list[dict[str, Any]]]


async def main() -> None:
    """Signs in, collects, writes, and prints how many records there are."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("email")
    arguments.add_argument("--base-url", default="http://localhost:8080")
    arguments.add_argument("--to", type=Path, default=Path("my-records.json"))
    options = arguments.parse_args()
    async with Campus(options.base_url) as campus:
        await campus.sign_in(options.email, os.environ["CAMPUS_PASSWORD"])
        collected = await collect(campus)
        await campus.sign_out()
    write(options.to, collected)
    for service, sections in collected.items():
        print(f"{service}: {sum(map(len, sections.values()))} records in {len(sections)} sections")


async def collect(campus: Campus) -> dict[str, Records]:
    """By service and section. Each list is followed to its end."""
    lists: dict[str, Callable[..., Awaitable[Page[Any, Any]]]] = {
        "identity": campus.get_personal_records_identity,
        "orders": campus.get_personal_records_orders,
        "payments": campus.get_personal_records_payments,
        "payouts": campus.get_personal_records_payouts,
        "notifications": campus.get_personal_records_notifications,
    }
    collected: dict[str, Records] = {}
    for service, listing in lists.items():
        sections = collected.setdefault(service, {})
        async for line in each(listing, limit=100):
            sections.setdefault(line.section, []).append(line.record)
    return collected


def write(path: Path, collected: dict[str, Records]) -> None:
    """A file that nobody but its owner may read."""
    path.touch(mode=0o600)
    if path.suffix != ".zip":
        path.write_text(json.dumps(collected, ensure_ascii=False, indent=2), encoding="utf-8")
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for service, sections in collected.items():
            archive.writestr(f"{service}.json", json.dumps(sections, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    asyncio.run(main())
