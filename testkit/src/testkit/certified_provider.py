"""The npm package `oidc-provider` as a process of the test (`services/identity/tests/oidc_provider`)."""

import asyncio
import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from testkit.databases import WAIT_SECONDS_MAX

FOLDER: Final = Path(__file__).parents[3] / "services/identity/tests/oidc_provider"
NODE_MISSING: Final = "The certified identity provider needs Node 20 or newer with npm (https://nodejs.org)"


def install() -> None:
    """Install the packages of the lock file. Skips the test without Node."""
    if shutil.which("npm") is None:
        pytest.skip(NODE_MISSING)
    lock, installed = FOLDER / "package-lock.json", FOLDER / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=FOLDER, check=True)


@asynccontextmanager
async def certified_provider(configuration: Mapping[str, object]) -> AsyncIterator[None]:
    """Run the provider. `provider.mjs` names the members of its configuration."""
    install()
    process = await asyncio.create_subprocess_exec(
        "node", "provider.mjs", json.dumps(configuration), cwd=FOLDER, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), WAIT_SECONDS_MAX) == b"listening\n"
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
