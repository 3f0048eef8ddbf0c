"""Received messages: as JSON for programs, by person for people."""

import asyncio
import time
from collections.abc import Sequence
from sqlite3 import Row
from typing import Any
from urllib.parse import urlencode

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from sandbox.gateway.fields import read_number, row_id
from sandbox.pages import MAIL_SECURITY, render
from sandbox.sinks.inbox import MessageFilter, delete_messages, list_mailboxes, list_messages, name_mailbox
from sandbox.web import JsonResponse, RefusedError, read_json
from sandbox.world import world_of

MESSAGES_DEFAULT = 200
MESSAGES_MAX = 1000
MESSAGE_ID_MAX = 10**18 - 1
# A page of the mailbox stays below 100 kB with the longest texts; HTML mails are loaded when they are opened.
MAILBOXES_ON_A_PAGE = 50
MESSAGES_ON_A_PAGE = 20
TEXT_CHARACTERS_MAX = 3_000
# A client asks again after a minute; a proxy in between may cut longer requests.
MESSAGE_WAIT_SECONDS_MAX = 60
# A message is seen within this time, and a wait costs ten short reads a second.
POLL_SECONDS = 0.1
ADDRESSES_MAX = 20


async def show_inbox(request: Request) -> Response:
    """Return the mailbox: all people, one `person`'s messages, or those with the words `q`; `before` pages back."""
    given, database = request.query_params, world_of(request).database
    owner, words = given.get("person", ""), given.get("q", "").strip()
    before = read_number(request, "before", 0, MESSAGE_ID_MAX)
    mailboxes: Sequence[Row] = ()
    messages: Sequence[Row] = ()
    if owner or words:
        chosen = MessageFilter(words=words, owner=owner)
        messages = list_messages(database, chosen, limit=MESSAGES_ON_A_PAGE, before=before)
    else:
        mailboxes = list_mailboxes(database, MAILBOXES_ON_A_PAGE, before)
    return render(
        "inbox.html",
        current="/inbox",
        person=owner,
        words=words,
        people=mailboxes,
        messages=messages,
        next_page=_next_page(owner, words, mailboxes, messages),
        text_characters_max=TEXT_CHARACTERS_MAX,
    )


def _next_page(owner: str, words: str, mailboxes: Sequence[Row], messages: Sequence[Row]) -> str | None:
    """Return the address of the older ones, when this page is full."""
    if len(mailboxes) == MAILBOXES_ON_A_PAGE:
        last = mailboxes[-1]["newest"]
    elif len(messages) == MESSAGES_ON_A_PAGE:
        last = messages[-1]["id"]
    else:
        return None
    named = {"person": owner, "q": words, "before": last}
    return f"/inbox?{urlencode({name: value for name, value in named.items() if value})}"


async def show_mail(request: Request) -> Response:
    """Return the HTML of one mail, for a frame of the mailbox."""
    number = row_id(request.path_params["id"])
    mail = world_of(request).database.one("SELECT html FROM messages WHERE id = ? AND html <> ''", number)
    if mail is None:
        raise RefusedError(404, "No such mail")
    return HTMLResponse(mail["html"], headers=MAIL_SECURITY)


async def show_messages(request: Request) -> Response:
    """Newest first.

    With `wait` the response is sent when a message matches, or after so many seconds.
    """
    given, database = request.query_params, world_of(request).database
    chosen = MessageFilter(given.get("to"), given.get("channel"), given.get("q"))
    limit = read_number(request, "limit", MESSAGES_DEFAULT, MESSAGES_MAX)
    after = read_number(request, "after", 0, MESSAGE_ID_MAX)
    deadline = time.monotonic() + read_number(request, "wait", 0, MESSAGE_WAIT_SECONDS_MAX)
    while True:
        rows = list_messages(database, chosen, limit=limit, after=after)
        if rows or time.monotonic() >= deadline:
            return JsonResponse([_message_view(row) for row in rows])
        await asyncio.sleep(POLL_SECONDS)


def _message_view(row: Row) -> dict[str, Any]:
    return {
        "id": row["id"],
        "channel": row["channel"],
        "to": row["recipient"],
        "from": row["sender"],
        "subject": row["subject"],
        "text": row["text"],
        "html": row["html"],
        "provider_id": row["provider_id"],
        "payload": msgspec.json.decode(row["payload"]),
        "created_at": row["created_at"],
    }


async def clear_messages(request: Request) -> Response:
    """Delete all messages."""
    delete_messages(world_of(request).database)
    return Response(status_code=204)


async def put_mailbox(request: Request) -> Response:
    """Show the messages to all these addresses under the name, in place of its former addresses."""
    body = await read_json(request)
    name, addresses = body.get("name"), body.get("addresses")
    if not isinstance(name, str) or not name.strip() or not isinstance(addresses, list):
        raise RefusedError(400, "name must be a text and addresses a list")
    if len(addresses) > ADDRESSES_MAX or not all(isinstance(one, str) and one.strip() for one in addresses):
        raise RefusedError(
            400, f"addresses must be up to {ADDRESSES_MAX} mail addresses, phone numbers or device tokens"
        )
    name_mailbox(world_of(request).database, name.strip(), addresses)
    return JsonResponse({"name": name.strip(), "addresses": addresses})
