"""All messages to users and to the on-call engineer, as one list."""

import re
from dataclasses import dataclass, field
from sqlite3 import Row
from typing import Any

import msgspec

from sandbox.clock import now_text
from sandbox.database import Database

# Enough for weeks of development; an endless test run must not fill the disk.
MESSAGES_KEPT = 20_000
PRUNE_EVERY = 500

PHONE = re.compile(r"[+\s]*([0-9][0-9 -]{5,18})")


@dataclass(frozen=True, slots=True)
class Message:
    """One message to one recipient. `payload` is what the provider received, without its credentials."""

    channel: str
    recipient: str
    provider_id: str
    text: str
    sender: str = ""
    subject: str = ""
    html: str = ""
    payload: Any = field(default_factory=dict)


def normal_recipient(text: str) -> str:
    """One spelling per recipient: a phone number as `+` and digits, an address in lower case."""
    text = text.strip()
    if phone := PHONE.fullmatch(text):
        return "+" + re.sub(r"[^0-9]", "", phone[1])
    return text.lower() if "@" in text else text


def record_message(database: Database, message: Message) -> None:
    number = database.run(
        "INSERT INTO messages (channel, recipient, sender, subject, text, html, provider_id, payload, created_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        message.channel,
        normal_recipient(message.recipient),
        message.sender,
        message.subject,
        message.text,
        message.html,
        message.provider_id,
        msgspec.json.encode(message.payload).decode(),
        now_text(),
    )
    if number % PRUNE_EVERY == 0:
        database.run("DELETE FROM messages WHERE id <= ?", number - MESSAGES_KEPT)


def list_messages(
    database: Database,
    recipient: str | None = None,
    channel: str | None = None,
    words: str | None = None,
    limit: int = 200,
    after: int = 0,
) -> list[Row]:
    """Newest first. `words` is searched in recipient, sender, subject and text; `after` is the id of an older message."""
    conditions: list[str] = []
    values: list[str | int] = []
    if recipient:
        conditions.append("recipient = ?")
        values.append(normal_recipient(recipient))
    if channel:
        conditions.append("channel = ?")
        values.append(channel)
    if after:
        conditions.append("id > ?")
        values.append(after)
    if words:
        conditions.append("recipient || ' ' || sender || ' ' || subject || ' ' || text LIKE ? ESCAPE '\\'")
        values.append("%" + re.sub(r"([\\%_])", r"\\\1", words) + "%")
    where = " AND ".join(conditions) or "1"
    return database.all(f"SELECT * FROM messages WHERE {where} ORDER BY id DESC LIMIT ?", *values, limit)


def delete_messages(database: Database) -> None:
    database.run("DELETE FROM messages")
