"""`make audit`: audit the running system. Exit status 1: a rule is broken; 0: findings are at most open or waiting."""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

import asyncpg
from rich.console import Console

from operations.audit.findings import Report
from operations.audit.gateway import Gateway
from operations.audit.recording import NotRecorded, Run, record_audit
from operations.audit.report import SETTLE_SECONDS, audit, print_report, report_as_json
from operations.ports import port_base_of
from operations.secrets import read_secrets


async def run(state_dir: Path, port_base: int, settle_seconds: float) -> Report:
    """Audit the system of this state directory, and record the result in it."""
    secrets = read_secrets(state_dir / "secrets.env")
    sandbox_url = os.environ.get("SANDBOX_URL") or f"http://127.0.0.1:{port_base + 90}"
    base_url = os.environ.get("BASE_URL") or f"http://127.0.0.1:{port_base}"
    started = Run.start()
    report = await audit(secrets, Gateway.of(os.environ, secrets, sandbox_url), settle_seconds=settle_seconds)
    try:
        await record_audit(started, report, base_url, secrets)
    except NotRecorded as error:
        sys.stderr.write(f"The audit was not recorded, GET /api/audits does not show it: {error}\n")
    return report


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--state-dir", default=os.environ.get("STATE_DIR", ".state"), type=Path)
    arguments.add_argument("--port-base", default=os.environ.get("PORT_BASE", ""), type=port_base_of)
    arguments.add_argument("--settle-seconds", default=SETTLE_SECONDS, type=float)
    arguments.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    options = arguments.parse_args()
    try:
        report = asyncio.run(run(options.state_dir, options.port_base, options.settle_seconds))
    except (OSError, asyncpg.PostgresError) as error:
        sys.exit(f"The audit failed: {error}. Is the system running? `make run` starts it.")
    if options.json:
        sys.stdout.write(json.dumps(report_as_json(report), indent=2) + "\n")
    else:
        print_report(report, Console(highlight=False))
    sys.exit(1 if report.verdict == "broken" else 0)


if __name__ == "__main__":
    main()
