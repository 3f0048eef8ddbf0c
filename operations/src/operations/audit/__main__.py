"""`make audit`: audit the running system.

Exit status 1: a rule is broken; 0: findings are at most open or waiting. With `--scheduled` 0: the result was recorded,
whose alert reports a broken rule; 1: it was not, so the Job is repeated.
"""

import argparse
import asyncio
import json
import os
import sys
from pathlib import Path

import asyncpg
from rich.console import Console

from operations.audit.access import audit_secrets, work_folder
from operations.audit.findings import Report
from operations.audit.gateway import Gateway
from operations.audit.recording import NotRecorded, Run, record_audit
from operations.audit.report import SETTLE_SECONDS, audit, print_report, report_as_json
from operations.ports import port_base_of


async def run(state_dir: Path, port_base: int, settle_seconds: float) -> tuple[Report, bool]:
    """Audit the system of this state directory or environment. Return the result, and whether it was recorded."""
    secrets = audit_secrets(state_dir, os.environ)
    sandbox_url = os.environ.get("SANDBOX_URL") or f"http://127.0.0.1:{port_base + 90}"
    base_url = os.environ.get("BASE_URL") or f"http://127.0.0.1:{port_base}"
    started = Run.start()
    gateway = Gateway.of(os.environ, secrets, sandbox_url, work_folder(state_dir))
    report = await audit(secrets, gateway, settle_seconds=settle_seconds)
    try:
        await record_audit(started, report, base_url, secrets)
    except NotRecorded as error:
        sys.stderr.write(f"The audit was not recorded, GET /api/audits does not show it: {error}\n")
        return report, False
    return report, True


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--state-dir", default=os.environ.get("STATE_DIR", ".state"), type=Path)
    arguments.add_argument("--port-base", default=os.environ.get("PORT_BASE", ""), type=port_base_of)
    arguments.add_argument("--settle-seconds", default=SETTLE_SECONDS, type=float)
    arguments.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    arguments.add_argument("--scheduled", action="store_true", help="exit status 0 when the result was recorded")
    options = arguments.parse_args()
    try:
        report, is_recorded = asyncio.run(run(options.state_dir, options.port_base, options.settle_seconds))
    except (OSError, asyncpg.PostgresError) as error:
        sys.exit(f"The audit failed: {error}. Is the system running? `make run` starts it.")
    if options.json:
        sys.stdout.write(json.dumps(report_as_json(report), indent=2) + "\n")
    else:
        print_report(report, Console(highlight=False))
    sys.exit(not is_recorded if options.scheduled else report.verdict == "broken")


if __name__ == "__main__":
    main()
