"""Record the calls about orders, purchases, payouts and wallets: a line before each request, and one for its outcome.

`ok`: a success; `fail`: a definite rejection, without effect; `info`: unknown, such as a lost response or a 5xx. A line
has no body of a request and no token, and of a response only the fields that the checker reads.
"""

import base64
import itertools
import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import httpx

FOLDER: Final = Path("build/histories")
_RECORDED: Final = ("/api/orders", "/api/payouts", "/api/purchases", "/api/wallets")
_FIELDS: Final = ("id", "status", "event", "amountMinor")


class History:
    """An append-only file of JSON lines, which several processes may write: their sequence is the logical time."""

    def __init__(self, path: Path, process: str) -> None:
        self.path = path
        self._process = process
        self._indexes = itertools.count()
        self._file: int | None = None

    @classmethod
    def new(cls, name: str) -> "History":
        """Return the history of a run, in a file of its own below the working directory."""
        return cls(FOLDER / f"{name}-{time.strftime('%Y%m%dT%H%M%S')}-{os.getpid()}.jsonl", name)

    def write(self, kind: str, **fields: object) -> None:
        """Append a line with the wall time in seconds."""
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        line = {"type": kind, "process": self._process, "time": round(time.time(), 6), **fields}
        os.write(self._file, json.dumps(line, default=str, separators=(",", ":")).encode() + b"\n")

    def invoke(self, request: httpx.Request) -> int | None:
        """Record a request that is about to be sent, and return its index; None for one that is not recorded."""
        path = request.url.path
        if not path.startswith(_RECORDED):
            return None
        index = next(self._indexes)
        self.write(
            "invoke",
            index=index,
            method=request.method,
            path=path,
            query=sorted(request.url.params),
            key=request.headers.get("Idempotency-Key"),
            user=_user_of(request.headers),
        )
        return index

    def complete(self, index: int | None, response: httpx.Response) -> None:
        """Record the outcome of a request."""
        if index is None:
            return
        status = response.status_code
        # 409 with Retry-After: the first attempt with this key is still running.
        is_unknown = status >= 500 or status == 408 or (status == 409 and "Retry-After" in response.headers)
        kind = "ok" if response.is_success else "info" if is_unknown else "fail"
        value = None
        if response.is_success:
            with suppress(ValueError):
                value = _picked(response.json().get("data"))
        self.write(kind, index=index, status=status, value=value)

    def fail_to_complete(self, index: int | None, error: BaseException) -> None:
        """Record that no response came."""
        if index is not None:
            self.write("info", index=index, value=type(error).__name__)


class RecordingClient(httpx.AsyncClient):
    """An HTTP client that records what it sends."""

    def __init__(self, history: History, **options: Any) -> None:
        super().__init__(**options)
        self.history = history

    async def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send the request, and record its outcome."""
        index = self.history.invoke(request)
        try:
            response = await super().send(request, **options)
        except BaseException as error:
            self.history.fail_to_complete(index, error)
            raise
        self.history.complete(index, response)
        return response


def _picked(data: object) -> object:
    if isinstance(data, list):
        return [_picked(item) for item in data]
    return {name: data[name] for name in _FIELDS if name in data} if isinstance(data, dict) else None


def _user_of(headers: Mapping[str, str]) -> str | None:
    """Return the subject of the access token."""
    parts = headers.get("Authorization", "").split(".")
    return json.loads(base64.urlsafe_b64decode(parts[1] + "==")).get("sub") if len(parts) == 3 else None
