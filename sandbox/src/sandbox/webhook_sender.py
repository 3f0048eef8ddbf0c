"""The background worker that signs and delivers webhooks from the outbox, and writes down every attempt."""

import asyncio
import base64
import hashlib
import hmac
import logging
import sqlite3
import time
from contextlib import suppress
from urllib.parse import urlencode

import aiohttp

from sandbox.clock import now_text
from sandbox.database import Database
from sandbox.settings import Settings
from sandbox.switches import read_switches

log = logging.getLogger("sandbox.webhook_sender")

# Enough to keep a receiver busy that needs a few milliseconds per event, few enough not to be its load test.
PARALLEL_DELIVERIES_MAX = 16

# The real gateway retries for 72 hours; here 72 tries last about 35 minutes, so that a developer sees the last one.
ATTEMPTS_MAX = 72
RETRY_DELAYS_SECONDS = (1.0, 2.0, 5.0, 10.0, 30.0)

# Ten times the receiver's limit (500 ms), with room for a debugger's machine.
RESPONSE_SECONDS_MAX = 10.0


def retry_delay_seconds(attempts: int) -> float | None:
    """Seconds to wait after so many failed attempts; None after the last one."""
    if attempts >= ATTEMPTS_MAX:
        return None
    return RETRY_DELAYS_SECONDS[min(attempts, len(RETRY_DELAYS_SECONDS)) - 1]


class WebhookSender:
    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings
        # What signs the payment gateway's webhooks.
        self.gateway_key = settings.gateway_keys[0]
        self._wake = asyncio.Event()
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._session: aiohttp.ClientSession | None = None

    def wake(self) -> None:
        """Wakes the sender; called after a commit that added rows to the outbox."""
        self._wake.set()

    async def run(self) -> None:
        timeout = aiohttp.ClientTimeout(total=RESPONSE_SECONDS_MAX)
        connector = aiohttp.TCPConnector(limit=PARALLEL_DELIVERIES_MAX)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as self._session:
            try:
                while True:
                    self._wake.clear()
                    seconds = self.run_once()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self._wake.wait(), seconds)
            finally:
                # An interrupted delivery stays pending in the database and is sent again by the next start.
                for task in self._under_way.values():
                    task.cancel()
                await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    def run_once(self) -> float | None:
        """Start due deliveries, up to the limit. Returns the seconds until the next one (None: none, or full)."""
        rows = self._database.all(
            "SELECT * FROM webhooks WHERE status = 'pending' ORDER BY next_attempt_at, id LIMIT ?",
            PARALLEL_DELIVERIES_MAX + len(self._under_way) + 1,
        )
        for row in rows:
            if row["id"] in self._under_way:
                continue
            seconds = float(row["next_attempt_at"]) - time.time()
            if seconds > 0:
                return seconds
            if len(self._under_way) >= PARALLEL_DELIVERIES_MAX:
                return None
            task = asyncio.create_task(self._deliver(row))
            self._under_way[row["id"]] = task
        return None

    async def _deliver(self, row: sqlite3.Row) -> None:
        started = time.monotonic()
        status_code: int | None = None
        failure: str | None = None
        try:
            status_code = await self._post(row["target"], row["event"], row["body"])
        except (aiohttp.ClientError, TimeoutError, OSError) as problem:
            failure = f"{type(problem).__name__}: {problem}"
        finally:
            del self._under_way[row["id"]]
            self._wake.set()
        self._record_attempt(row, status_code, failure, round((time.monotonic() - started) * 1000))

    async def _post(self, target: str, event: str, body: bytes) -> int:
        if self._session is None:
            raise RuntimeError("the webhook sender delivers only while it runs")
        address, headers = self._envelope(target, event, body)
        async with self._session.post(address, data=body, headers=headers, allow_redirects=False) as response:
            await response.read()
            return response.status

    def _envelope(self, target: str, event: str, body: bytes) -> tuple[str, dict[str, str]]:
        headers = {"Content-Type": "application/json", "User-Agent": "sandbox-webhooks"}
        if target == "gateway":
            headers[self._settings.gateway_signature_header] = sign_gateway(self.gateway_key, body)
            return self._settings.webhook_url, headers
        if target == "flutterwave":
            return self._settings.flutterwave_webhook_url, {**headers, **self._flutterwave_signature(body)}
        if target == "sms":
            return self._receipt_envelope(event, body, headers)
        headers["X-Hub-Signature-256"] = sign_messaging(self._settings.messaging_app_secret, body)
        return self._settings.messaging_webhook_url, headers

    def _flutterwave_signature(self, body: bytes) -> dict[str, str]:
        """Sign the body; the scheme is a switch, which is stored in the database."""
        key = self._settings.flutterwave_webhook_hash
        if read_switches(self._database).flutterwave_signature == "hash":
            return {"verif-hash": key}
        return {"flutterwave-signature": sign_flutterwave(key, body)}

    def _receipt_envelope(self, event: str, body: bytes, headers: dict[str, str]) -> tuple[str, dict[str, str]]:
        """Sign as Termii and Twilio do; Africa's Talking sends a form to the address that it was given, key and all."""
        event, _, signature = event.partition(" ")
        key, address = self._settings.sms_receipt_key, f"{self._settings.sms_receipt_url}/{event}"
        if event == "termii":
            return address, {**headers, "X-Termii-Signature": sign_gateway(key, body)}
        form = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
        if event == "twilio":
            return address, {**form, "X-Twilio-Signature": signature}
        return f"{address}?{urlencode({'key': key})}", form

    def _record_attempt(
        self, row: sqlite3.Row, status_code: int | None, failure: str | None, duration_milliseconds: int
    ) -> None:
        attempts = row["attempts"] + 1
        delay_seconds = retry_delay_seconds(attempts)
        if status_code == 200:
            status = "delivered"
        elif delay_seconds is None:
            status = "dead"
        else:
            status = "pending"
        if status != "delivered":
            log.warning("webhook %d (%s): %s, attempt %d", row["id"], row["event"], status_code or failure, attempts)
        with self._database.transaction():
            self._database.run(
                "UPDATE webhooks SET status = ?, attempts = ?, next_attempt_at = ? WHERE id = ?",
                status,
                attempts,
                time.time() + (delay_seconds or 0),
                row["id"],
            )
            self._database.run(
                "INSERT INTO webhook_attempts (webhook_id, attempted_at, status_code, failure, duration_milliseconds)"
                " VALUES (?, ?, ?, ?, ?)",
                row["id"],
                now_text(),
                status_code,
                failure,
                duration_milliseconds,
            )


def sign_gateway(key: str, body: bytes) -> str:
    """Lowercase hex HMAC SHA-512 of the raw body (specification, Authentication 6)."""
    return hmac.new(key.encode(), body, hashlib.sha512).hexdigest()


def sign_flutterwave(key: str, body: bytes) -> str:
    """Base64 HMAC SHA-256 of the raw body."""
    return base64.b64encode(hmac.new(key.encode(), body, hashlib.sha256).digest()).decode()


def sign_messaging(secret: str, body: bytes) -> str:
    """`sha256=` and the hex HMAC SHA-256 of the raw body, as the messaging platform signs."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
