"""The link of `List-Unsubscribe`: a confirmation page, and the one click of a mail program (RFC 8058)."""

from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from common.auth.caller import THE_SERVICE
from common.auth.guards import SIGNATURE
from common.primitives.problems import Unauthorized
from common.web.endpoint_table import KIB
from common.web.endpoints import Endpoints
from common.web.http import dependencies_of
from notifications.deliveries.use_cases.feed.unsubscribe_from_mail import unsubscribe_from_mail
from notifications.dependencies import Dependencies

PATH: Final = "/functions/v1/mail-unsubscribe"
_HEADERS: Final[dict[str, str]] = {"Cache-Control": "no-store"}
_HEAD: Final = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Mails</title>'
_QUESTION: Final = (
    f"{_HEAD}<p>Switch off mails about the progress of orders and tickets? Receipts, refunds, payouts, codes and "
    "security notices "
    "still arrive.</p>"
    '<form method="post"><button>Switch off</button></form></html>'
)
_DONE: Final = (
    f"{_HEAD}<p>Mails about the progress of orders and tickets are switched off. "
    "You can switch them on again in the app.</p></html>"
)

endpoint = Endpoints("notifications")


class LinkInvalid(Unauthorized):
    detail = "The link is not valid. Change the preferences in the app."


_QUERY: Final[dict[str, object]] = {
    "parameters": [{"name": "token", "in": "query", "required": True, "schema": {"type": "string"}}]
}


@endpoint(
    "GET",
    PATH,
    id="notifications.showUnsubscribePage",
    content="text/html",
    errors=(401,),
    allow=SIGNATURE,
    raw=True,
    any_query=True,
    openapi_extra=_QUERY,
)
async def show_unsubscribe_page(request: Request) -> Response:
    """Confirm before the change: mail scanners open links."""
    links = dependencies_of(request, Dependencies).delivery_sender.unsubscribe_links
    if links.user_of(request.query_params.get("token")) is None:
        raise LinkInvalid
    return HTMLResponse(_QUESTION, headers=_HEADERS)


@endpoint(
    "POST",
    PATH,
    id="notifications.unsubscribe",
    content="text/html",
    errors=(401, 409),
    allow=SIGNATURE,
    raw=True,
    any_query=True,
    openapi_extra=_QUERY,
    body_bytes_max=16 * KIB,
)
async def unsubscribe(request: Request) -> Response:
    """Switch off the optional mails of the link's user. The body, `List-Unsubscribe=One-Click` or empty, is not
    read.
    """
    dependencies = dependencies_of(request, Dependencies)
    user_id = dependencies.delivery_sender.unsubscribe_links.user_of(request.query_params.get("token"))
    if user_id is None:
        raise LinkInvalid
    async with dependencies.database.unit_of_work(acting_as=THE_SERVICE) as uow:
        if not await unsubscribe_from_mail(uow, user_id, dependencies.clock.now()):
            raise LinkInvalid
    return HTMLResponse(_DONE, headers=_HEADERS)
