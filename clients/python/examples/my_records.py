"""All records of the signed-in user, as one JSON document, or as a ZIP with one file for each service.

    python clients/python/examples/my_records.py --base-url http://localhost:8080 --to records.zip buyer@unilag.edu.ng

The password is read from CAMPUS_PASSWORD.
"""

import argparse
import asyncio
import json
import os
import zipfile
from pathlib import Path
from typing import Any

from campus_client import AsyncCampus

Records = dict[str, list[dict[str, Any]]]


async def main() -> None:
    """Sign in, collect, write, and print the number of records."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("email")
    arguments.add_argument("--base-url", default="http://localhost:8080")
    arguments.add_argument("--to", type=Path, default=Path("my-records.json"))
    options = arguments.parse_args()
    async with AsyncCampus(options.base_url) as campus:
        await campus.sign_in(options.email, os.environ["CAMPUS_PASSWORD"])
        collected = await collect(campus)
        await campus.sign_out()
    write(options.to, collected)
    for service, sections in collected.items():
        print(f"{service}: {sum(map(len, sections.values()))} records in {len(sections)} sections")


async def collect(campus: AsyncCampus) -> dict[str, Records]:
    """Return the records by service and section. Each list is read to its end."""
    lists = {
        "identity": campus.personal_records.list_identity(limit=100),
        "orders": campus.personal_records.list_orders(limit=100),
        "payments": campus.personal_records.list_payments(limit=100),
        "payouts": campus.personal_records.list_payouts(limit=100),
        "notifications": campus.personal_records.list_notifications(limit=100),
    }
    collected: dict[str, Records] = {}
    for service, records in lists.items():
        sections = collected.setdefault(service, {})
        async for line in records:
            sections.setdefault(line.section, []).append(line.record)
    return collected


def write(path: Path, collected: dict[str, Records]) -> None:
    """Write a file that only its owner may read."""
    path.touch(mode=0o600)
    if path.suffix != ".zip":
        path.write_text(json.dumps(collected, ensure_ascii=False, indent=2), encoding="utf-8")
        return
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for service, sections in collected.items():
            archive.writestr(f"{service}.json", json.dumps(sections, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    asyncio.run(main())
