"""All messages to users and to the on-call engineer, as one list."""

import re
from collections.abc import Iterable
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


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """A choice of messages. `words` are searched in recipient, sender, subject and text; `owner` has a mailbox."""

    recipient: str | None = None
    channel: str | None = None
    words: str | None = None
    owner: str | None = None


def list_messages(
    database: Database, chosen: MessageFilter, *, limit: int, after: int = 0, before: int = 0
) -> list[Row]:
    """Return the chosen messages, newest first; `after` and `before` are ids of messages."""
    conditions: list[str] = []
    values: list[str | int] = []
    if chosen.recipient:
        conditions.append("recipient = ?")
        values.append(normal_recipient(chosen.recipient))
    if chosen.channel:
        conditions.append("channel = ?")
        values.append(chosen.channel)
    if after:
        conditions.append("id > ?")
        values.append(after)
    if before:
        conditions.append("id < ?")
        values.append(before)
    if chosen.owner:
        conditions.append("(recipient = ? OR recipient IN (SELECT address FROM people WHERE name = ?))")
        values += [normal_recipient(chosen.owner), chosen.owner]
    if chosen.words:
        conditions.append("recipient || ' ' || sender || ' ' || subject || ' ' || text LIKE ? ESCAPE '\\'")
        values.append("%" + re.sub(r"([\\%_])", r"\\\1", chosen.words) + "%")
    where = " AND ".join(conditions) or "1"
    return database.all(f"SELECT * FROM messages WHERE {where} ORDER BY id DESC LIMIT ?", *values, limit)


def list_mailboxes(database: Database, limit: int, before: int = 0) -> list[Row]:
    """Who received messages, in the order of their newest one: `person`, `addresses`, `messages`, and of the newest
    `newest` (its id), `channel`, `headline` and `created_at`. `before` is the `newest` of the page before.

    An address without a known owner is a person of its own.
    """
    return database.all(
        "SELECT person, addresses, messages, newest, channel, created_at,"
        " substr(CASE subject WHEN '' THEN text ELSE subject END, 1, 80) AS headline"
        " FROM (SELECT coalesce(name, recipient) AS person, group_concat(DISTINCT recipient) AS addresses,"
        " count(*) AS messages, max(id) AS newest FROM messages LEFT JOIN people ON address = recipient GROUP BY "
        "person)"
        " JOIN messages ON id = newest WHERE ?1 = 0 OR newest < ?1 ORDER BY newest DESC LIMIT ?2",
        before,
        limit,
    )


def name_mailbox(database: Database, name: str, addresses: Iterable[str]) -> None:
    """Group the messages to these addresses under one name, instead of its former addresses."""
    with database.transaction():
        database.run("DELETE FROM people WHERE name = ?", name)
        for address in addresses:
            database.run(
                (
                    "INSERT INTO people (address, name) VALUES (?, ?) ON CONFLICT (address) DO UPDATE SET name = "
                    "excluded.name"
                ),
                normal_recipient(address),
                name,
            )


def delete_messages(database: Database) -> None:
    database.run("DELETE FROM messages")
