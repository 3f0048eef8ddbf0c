"""`make audit` against the running system; ends with status 1 when a promise is broken."""

import argparse
import asyncio
import os
import sys
from pathlib import Path

import httpx
from rich.console import Console

from campus_tools.audit.report import audit_system
from campus_tools.launcher.ports import port_base_of
from campus_tools.secrets import read_secrets


async def run(state_dir: Path, port_base: int) -> bool:
    """Audits the system of this state directory; tells whether the books are clean."""
    secrets = read_secrets(state_dir / "secrets.env")
    sandbox_url = os.environ.get("SANDBOX_URL") or f"http://127.0.0.1:{port_base + 90}"
    async with httpx.AsyncClient(base_url=sandbox_url, timeout=30, trust_env=False) as sandbox:
        return await audit_system(secrets, sandbox, Console(highlight=False))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--state-dir", default=os.environ.get("STATE_DIR", ".state"), type=Path)
    arguments.add_argument("--port-base", default=os.environ.get("PORT_BASE", ""), type=port_base_of)
    options = arguments.parse_args()
    try:
        clean = asyncio.run(run(options.state_dir, options.port_base))
    except (OSError, httpx.TransportError) as error:
        sys.exit(f"The audit could not look: {error}. Is the system running? `make run` starts it.")
    sys.exit(0 if clean else 1)


if __name__ == "__main__":
    main()
