"""The payment gateway's webhook, accepted in one commit: compared with pgbench, and at a fixed rate in the running
system.
"""

import hmac
import tempfile
from pathlib import Path

import msgspec

from common.database.unit_of_work import Database
from common.primitives.clock import SystemClock
from common.primitives.ids import new_id
from lab.bench.cpu import Meter
from lab.bench.environment import BenchEnvironment
from lab.bench.figures import Figures, Goal, Reading, Row, percentile
from lab.bench.open_loop import request_bytes, send_at_rate
from lab.bench.pgbench import script
from lab.bench.recording import repeatable
from payments.clients.paystack import PaystackGateway
from payments.use_cases.webhooks.receive_webhook import receive_webhook

_PATH = "/functions/v1/gateway-webhook"
# More than one process accepts per second: no body is sent twice in a run.
_PER_SECOND_MAX = 6_000
_RATES = (100, 200)


async def measure(bench: BenchEnvironment) -> list[Row]:
    urls = bench.databases["payments"]
    secret = bench.system.secrets["GATEWAY_SECRET_KEY"]
    text = script(await repeatable(urls, "service", _receive))

    async def limit(seconds: float) -> Reading:
        return await bench.load_database(urls.service, seconds, text, grows=(urls.admin, "processed_webhook_events"))

    async with bench.endpoint("payments") as endpoint:
        meter = Meter([endpoint.pid])

        async def over_http(seconds: float) -> Reading:
            with tempfile.TemporaryDirectory(prefix="campus-webhooks-") as folder:
                load = _posting(Path(folder) / "bodies", secret, round(max(1.0, seconds) * _PER_SECOND_MAX))
                return await bench.load(endpoint.url + _PATH, seconds, meter, script=load)

        row = await bench.compare(
            "webhook intake",
            over_http,
            "pgbench, the same statement",
            limit,
            Goal("ratio", 0.35, at_least=True),
            Goal("cpu_us", 280, unit=" us"),
        )
    return [row, *[await _at_rate(bench, secret, rate) for rate in _RATES]]


async def _at_rate(bench: BenchEnvironment, secret: str, rate: int) -> Row:
    """Return the running service: intake, relay, broker and worker share the cores. The worker ignores these events."""
    seconds = bench.effort.seconds * bench.effort.rounds
    requests = [
        request_bytes(
            "POST", _PATH, {"X-Gateway-Signature": _signature(body, secret), "Content-Type": "application/json"}, body
        )
        for body in (_body("paymentrequest.success") for _ in range(round(rate * seconds)))
    ]
    meter, database = bench.meter("payments"), bench.postgresql
    before, database_before = meter.seconds(), database.seconds()
    port = bench.system.process("payments").port
    times = await send_at_rate("127.0.0.1", port, requests, rate=rate)
    reading = Reading(
        len(times),
        len(times) / rate,
        percentile(times, 0.5),
        percentile(times, 0.99),
        meter.seconds() - before,
        database.seconds() - database_before,
    )
    return Row(
        f"webhook at {rate}/s, everything running",
        "",
        Figures.of([reading]),
        goals=(Goal("p99_ms", 100, unit=" ms"),),
        note="CPU with the relay of the process, database with relay and worker",
    )


def _body(event: str) -> bytes:
    """Return a body of the usual size of the gateway's webhooks."""
    reference = new_id()
    return msgspec.json.encode(
        {
            "event": event,
            "data": {
                # The key of the webhook. The upper bits are the same for all references of a millisecond.
                "id": reference.int & (2**53 - 1),
                "reference": str(reference),
                "status": "success",
                "amount": 150_000,
                "currency": "NGN",
                "channel": "card",
                "paid_at": "2026-11-01T10:00:00.000Z",
                "customer": {"email": "buyer@unilag.edu.ng", "customer_code": "CUS_0123456789"},
                "authorization": {"bin": "408408", "last4": "4081", "bank": "Test Bank", "card_type": "visa"},
                "metadata": {"order_id": str(reference), "settlement": "escrow"},
            },
        }
    )


def _signature(body: bytes, secret: str) -> str:
    return hmac.digest(secret.encode(), body, "sha512").hex()


def _posting(path: Path, secret: str, count: int) -> str:
    """Lua that sends each of `count` signed bodies once and stops the run after the last."""
    with path.open("wb") as file:
        for _ in range(count):
            body = _body("charge.success")
            file.write(_signature(body, secret).encode() + b" " + body + b"\n")
    return _LUA.format(path=path)


_LUA = """\
local lines, n = {{}}, 0
function init()
  for line in io.lines("{path}") do lines[#lines + 1] = line end
end
function request()
  n = n + 1
  local line = lines[n]
  if line == nil then error("all webhooks were sent") end
  local headers = {{["X-Gateway-Signature"] = line:sub(1, 128), ["Content-Type"] = "application/json"}}
  return wrk.format("POST", nil, headers, line:sub(130))
end
"""


async def _receive(database: Database) -> None:
    gateway = PaystackGateway("http://gateway.invalid", "")
    try:
        await receive_webhook(database, gateway, SystemClock(), _body("charge.success"))
    finally:
        await gateway.close()
