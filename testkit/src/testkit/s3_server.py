"""A private S3 store for tests: `rclone serve s3`, which checks signatures by an implementation of its own."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

START_SECONDS_MAX: Final = 30.0


@asynccontextmanager
async def s3_store(folder: Path, key_id: str, secret: str, *, path_addressing: bool = True) -> AsyncIterator[str]:
    """Serve each folder in `folder` as a bucket to the holder of the key; gives the store's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [
            Path(sys.executable).with_name("rclone"), "serve", "s3", "--config", "", "--addr", f"127.0.0.1:{port}",
            "--auth-key", f"{key_id},{secret}", f"--force-path-style={str(path_addressing).lower()}", folder,
        ],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(START_SECONDS_MAX):
            await _listens(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        _, complained = await asyncio.to_thread(process.communicate)
        sys.stderr.write(complained.decode(errors="replace"))


async def _listens(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            await writer.wait_closed()
            return
    raise RuntimeError(f"the S3 store ended with {process.returncode}")
