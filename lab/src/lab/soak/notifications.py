"""Messages over four channels with an outage of one channel and killed workers: arrivals, delays and duplicates.

Each message has a unique order number, which identifies it at the sandbox. Arrivals are counted there, not in the
service.
"""

import asyncio
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, get_args
from uuid import UUID, uuid4

import msgspec
from rich.table import Table

from campus_tools.launcher.system import System
from contracts.demo import ADA
from lab.bench.figures import percentile
from lab.report import Report
from lab.soak.webhooks import kill_repeatedly
from lab.systems import Log, rows_of, value_of
from operations.journey import Marketplace, SignedInUser

Channel = Literal["push", "messaging", "sms", "email"]
# A provider that rejects at once, or one that accepts the connection and never responds. Neither accepts the message.
How = Literal["refusing", "hanging"]

CHANNELS: Final[tuple[Channel, ...]] = get_args(Channel)
# The sandbox's mail server has no temporary rejection: e-mail is never the channel with the outage.
DOWN_CHANNELS: Final[tuple[Channel, ...]] = ("push", "messaging", "sms")
WORKER: Final = "notifications-worker"
USERS: Final = 8
# The outage starts after this share of the messages.
DOWN_AFTER: Final = 0.2
SENDERS: Final = 16
# The rest of the longest retry delay of a message after an outage of a minute, and a poll.
_ARRIVED_SECONDS_MAX: Final = 420.0
_NUMBER: Final = re.compile(r"CM-5A[0-9A-F]{2}-[0-9A-F]{4}")
_PER_PAGE: Final = 1_000
_FINAL: Final = frozenset({"sent", "delivered", "read", "failed"})


@dataclass(frozen=True, slots=True)
class MessageLoad:
    """The messages, their rate per second, the outage's channel and seconds, and the kills of the worker."""

    count: int
    rate: float
    down: Channel
    down_seconds: float
    kills: int
    how: How = "refusing"


@dataclass(slots=True)
class _Addressee:
    user_id: str
    addresses: dict[Channel, str]


@dataclass(slots=True)
class _Sent:
    """One message: its notification, its channel, and its acceptance (seconds since 1970; 0: not accepted)."""

    number: int
    channel: Channel
    to: _Addressee
    notification_id: UUID = field(default_factory=uuid4)
    accepted_at: float = 0.0

    @property
    def order_number(self) -> str:
        """A number for people: its hexadecimal digits are symbols of their alphabet."""
        digits = f"{self.number:06X}"
        return f"CM-5A{digits[:2]}-{digits[2:]}"


@dataclass(slots=True)
class _Outage:
    began: float = 0.0
    ended: float = 0.0


async def soak_messages(system: System, market: Marketplace, load: MessageLoad, log: Log) -> Report:
    """Sign users up, send with an outage and kills, resend failed messages, and count the arrivals."""
    if load.down not in DOWN_CHANNELS:
        raise ValueError(f"down must be one of: {', '.join(DOWN_CHANNELS)}")
    log(f"signing {USERS} users up")
    users = await asyncio.gather(*(_addressee(market, place) for place in range(USERS)))
    # Every user receives messages over every channel; consecutive messages differ in both.
    sent = [
        _Sent(number, CHANNELS[number % len(CHANNELS)], users[number // len(CHANNELS) % USERS])
        for number in range(load.count)
    ]
    log(f"sending {load.count} messages, {load.rate:g} per second")
    outage = _Outage()
    began = time.monotonic()
    _, kills = await asyncio.gather(_send(market, sent, load.rate), _break(system, market, load, outage, log))
    log("waiting for the result of every message")
    accepted = [one for one in sent if one.accepted_at]
    ids = [one.notification_id for one in accepted]
    await _ended(system, ids)
    given_up = [str(row["id"]) for row in await rows_of(system, "notifications", _GIVEN_UP, ids)]
    if given_up:
        log(f"support resends {len(given_up)} messages")
        await _resend(market, given_up)
        await _ended(system, ids)
    report = Report()
    report.require_none("messages that were not accepted", [one.order_number for one in sent if not one.accepted_at])
    report.rows["worker killed"] = f"{kills} times"
    report.rows["failed, resent by support"] = str(len(given_up))
    report.rows["from the first message to the last result"] = f"{time.monotonic() - began:.1f} s"
    log("counting the arrivals at the sandbox")
    arrivals = await _arrivals(market, users)
    of_notification = {row[0] for row in await rows_of(system, "notifications", _OPEN_ATTEMPTS, ids)}
    uncertain = {row[0] for row in await rows_of(system, "notifications", _UNCERTAIN, ids)}
    statuses = {row["status"]: row["count"] for row in await rows_of(system, "notifications", _STATUSES, ids)}
    report.tables.append(_record_arrivals(report, accepted, arrivals, of_notification, uncertain, outage))
    # A failed message is one whose result is unknown.
    is_known = statuses.keys() <= _FINAL and statuses.get("failed", 0) == len(uncertain)
    report.require("statuses", statuses, holds=is_known and sum(statuses.values()) == len(accepted))
    return report


async def _addressee(market: Marketplace, place: int) -> _Addressee:
    """Sign up a student with a phone, a mailbox and a device."""
    mail, phone, device = f"soak.{uuid4().hex}@unilag.edu.ng", f"+234803{uuid4().int % 10**7:07d}", uuid4().hex
    student = await market.sign_up(mail, f"Soak {place}", phone)
    user_id = str((await market.get("/api/profiles/current", student))["id"])
    await market.post("/api/devices", {"kind": "android", "token": device}, student)
    addressee = _Addressee(user_id, {"push": device, "messaging": phone, "sms": phone, "email": mail})
    await _is_known(market, student, addressee)
    return addressee


async def _is_known(market: Marketplace, student: SignedInUser, addressee: _Addressee) -> None:
    """Wait until the service has consumed the user: it returns 404 before."""

    async def check() -> bool | None:
        body = {
            "userId": addressee.user_id,
            "channel": "email",
            "template": "order_dispatched",
            "data": _template_data("CM-0000-0000"),
        }
        response = await market.http.post(
            "/functions/v1/deliver-notification", json={"notificationId": str(uuid4()), **body}, headers=_key(market)
        )
        return True if response.status_code == 200 else None

    await Marketplace.until(f"{student.email} is known", check, 60)


def _template_data(order_number: str) -> dict[str, str]:
    return {"orderId": str(uuid4()), "orderNumber": order_number, "businessName": ADA.business_name}


def _key(market: Marketplace) -> dict[str, str]:
    return {"Authorization": f"Bearer {market.secrets['SERVICE_ROLE_KEY'].split(',', 1)[0]}"}


async def _send(market: Marketplace, sent: Sequence[_Sent], rate: float) -> None:
    """Send at the rate, at most SENDERS at once; a rejected message keeps `accepted_at` 0."""
    gate, headers = asyncio.Semaphore(SENDERS), _key(market)

    async def one(message: _Sent) -> None:
        body = {
            "notificationId": str(message.notification_id),
            "userId": message.to.user_id,
            "channel": message.channel,
            "template": "order_dispatched",
            "data": _template_data(message.order_number),
        }
        async with gate:
            response = await market.http.post("/functions/v1/deliver-notification", json=body, headers=headers)
            message.accepted_at = time.time() if response.status_code == 200 else 0.0

    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for place, message in enumerate(sent):
            await asyncio.sleep(max(0.0, began + place / rate - time.monotonic()))
            group.create_task(one(message))


async def _break(system: System, market: Marketplace, load: MessageLoad, outage: _Outage, log: Log) -> int:
    """Run the outage, then the kills in the remaining time; the number of kills."""
    await _stop_provider(market, load, outage, log)
    seconds = (1 - DOWN_AFTER) * load.count / load.rate - load.down_seconds
    return await kill_repeatedly(system.process(WORKER), load.kills, seconds, lambda: log("killing the worker"))


async def _stop_provider(market: Marketplace, load: MessageLoad, outage: _Outage, log: Log) -> None:
    await asyncio.sleep(DOWN_AFTER * load.count / load.rate)
    log(f"{load.down} is down for {load.down_seconds:g} s, {load.how}")
    # The delay precedes the error: no message is received without a response.
    rule = {"error_before": True, **({"delay": 30.0} if load.how == "hanging" else {})}
    (await market.sandbox.put("/control/faults", json={load.down: rule})).raise_for_status()
    outage.began = time.time()
    await asyncio.sleep(load.down_seconds)
    (await market.sandbox.put("/control/faults", json={load.down: None})).raise_for_status()
    outage.ended = time.time()
    log(f"{load.down} is back")


_COUNT_QUEUED: Final = """
SELECT count(*) FROM notification_deliveries WHERE notification_id = ANY ($1) AND status = 'queued'
"""
_GIVEN_UP: Final = """
SELECT DISTINCT ON (l.delivery_id) l.id FROM notification_delivery_logs l
JOIN notification_deliveries d ON d.id = l.delivery_id
WHERE d.notification_id = ANY ($1) AND d.status IN ('failed', 'bounced') AND l.status <> 'unknown'
  AND NOT EXISTS (SELECT FROM notification_delivery_logs n WHERE n.delivery_id = d.id AND n.status = 'unknown')
ORDER BY l.delivery_id, l.attempted_at DESC
"""
# Support does not know whether these were sent, and resends none of them.
_UNCERTAIN: Final = """
SELECT DISTINCT d.notification_id FROM notification_deliveries d
JOIN notification_delivery_logs l ON l.delivery_id = d.id AND l.status = 'unknown'
WHERE d.notification_id = ANY ($1) AND d.status = 'failed'
"""
# The documented window: a worker killed during an attempt, or a provider without a response.
_OPEN_ATTEMPTS: Final = """
SELECT DISTINCT notification_id FROM notification_delivery_logs
WHERE notification_id = ANY ($1) AND (status IN ('unknown', 'sending') OR error LIKE '%did not answer%')
"""
_STATUSES: Final = """
SELECT status, count(*) AS count FROM notification_deliveries WHERE notification_id = ANY ($1) GROUP BY status
"""


async def _ended(system: System, ids: Sequence[UUID]) -> None:
    async def check() -> bool | None:
        return None if await value_of(system, "notifications", _COUNT_QUEUED, ids) else True

    await Marketplace.until("every message is sent or failed", check, _ARRIVED_SECONDS_MAX, every=0.5)


async def _resend(market: Marketplace, log_ids: Sequence[str]) -> None:
    support = await market.sign_in_with_two_factors("support@campus.example", "SUPPORT")
    for log_id in log_ids:
        await market.post(f"/api/notification-delivery-logs/{log_id}/resend", {}, support, key=uuid4())


async def _arrivals(market: Marketplace, users: Sequence[_Addressee]) -> dict[tuple[str, str], list[float]]:
    """Return the arrival times of the messages at their providers, by channel and order number."""
    arrivals: dict[tuple[str, str], list[float]] = {}
    for user in users:
        for channel, address in user.addresses.items():
            query = {"to": address, "channel": channel, "limit": str(_PER_PAGE)}
            response = await market.sandbox.get("/control/messages", params=query)
            for message in response.raise_for_status().json():
                content = f"{message['subject']} {message['text']} {msgspec.json.encode(message['payload']).decode()}"
                for number in {*_NUMBER.findall(content)}:
                    at = datetime.fromisoformat(message["created_at"]).timestamp()
                    arrivals.setdefault((channel, number), []).append(at)
    return arrivals


def _record_arrivals(
    report: Report,
    accepted: Sequence[_Sent],
    arrivals: Mapping[tuple[str, str], Sequence[float]],
    with_open_attempts: set[UUID],
    uncertain: set[UUID],
    outage: _Outage,
) -> Table:
    """Require that every message arrived once, except as documented; returns a line for each channel.

    An uncertain message was in progress when the worker was killed, and is not resent. A push that arrives twice
    replaces the first on the device. Delays count from the acceptance of a message to its receipt by the provider.
    """
    table = Table("channel", "accepted", "arrived", "uncertain", "twice", "late, p50 / p99 before", "during", "after")
    copies = {one.number: len(arrivals.get((one.channel, one.order_number), ())) for one in accepted}
    missing = [one for one in accepted if not copies[one.number] and one.notification_id not in uncertain]
    report.require_none("missing messages", [f"{one.channel} {one.order_number}" for one in missing])
    twice = [one for one in accepted if copies[one.number] > 1]
    unexplained = [one for one in twice if one.notification_id not in with_open_attempts]
    report.require_none("messages twice without an open attempt", [one.order_number for one in unexplained])
    for channel in CHANNELS:
        of_channel = [one for one in accepted if one.channel == channel]
        late: dict[str, list[float]] = {"before": [], "during": [], "after": []}
        for one in of_channel:
            if arrived := arrivals.get((channel, one.order_number)):
                at = one.accepted_at
                period = "before" if at < outage.began else "during" if at < outage.ended else "after"
                # The provider may receive a message before its acceptance is received here.
                late[period].append(max(0.0, min(arrived) - at) * 1000)
        counts = (
            len(of_channel),
            sum(copies[one.number] > 0 for one in of_channel),
            sum(one.notification_id in uncertain for one in of_channel),
            sum(one.channel == channel for one in twice),
        )
        percentiles = [f"{percentile(it, 0.5) or 0:.0f} / {percentile(it, 0.99) or 0:.0f} ms" for it in late.values()]
        table.add_row(channel, *map(str, counts), *percentiles)
        report.rows[channel] = f"{counts[0]} accepted, {counts[1]} arrived, {counts[2]} uncertain"
    return table
