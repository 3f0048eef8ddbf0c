"""The composition root of the console: routes, the checks before each screen, and its process."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from jinja2 import ChainableUndefined, Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from common.documents.rendering import DocumentRenderer
from common.observability.logging import get_logger
from common.primitives.clock import Clock, SystemClock
from console import formats, messages
from console.api import Api, ApiConnection, ApiProblem, SessionEnded
from console.assets import Assets
from console.families import Family, Screen, find_families, shortcuts
from console.live import Streams, response_to_stream
from console.money import account_words
from console.papers import paper_response
from console.passkeys import read_passkey
from console.profiles import Profiles
from console.security import STRICT_TRANSPORT, SecuredResponses, has_csrf_token, is_same_origin, security_headers
from console.session import REFUSED_FORM_CHARACTERS_MAX, RefusedFormCookie, Session, SessionCookies
from console.settings import Settings
from console.visit import (
    CODE_FIELD,
    HELD_FIELD,
    KEY_FIELD,
    OWN_FIELDS,
    PASSKEY_FIELD,
    Form,
    HeldForm,
    HeldForms,
    InvalidField,
    RefusedForm,
    Visit,
    local_path,
)

log = get_logger(__name__)

SERVICE: Final = "console"
STAFF_PERMISSION: Final = "work:read"
"""Held by staff and vendors. Other users have the invitations of shops here."""
INVITATIONS: Final = "/shop-invitations"
FORM_FIELDS_MAX: Final = 600
"""More than the five fields of each of 100 variants."""
FILE_BYTES_MAX: Final = 5 * 1024 * 1024 + 4096
"""An image of the API's limit in its frame (contract section 4)."""
HTML: Final = "text/html"
_TEMPLATES: Final = [Path(__file__).parent / "pages", Path(__file__).parent / "templates"]


class Console:
    """The screens of all families under one set of checks."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self._cookies = SessionCookies(
            settings.console_key,
            settings.console_key_previous,
            is_secure=settings.is_secure,
            clock=clock or SystemClock(),
        )
        self.held = HeldForms(settings.console_key, settings.console_key_previous)
        self._refused = RefusedFormCookie(is_secure=settings.is_secure)
        self._console_url = settings.console_url
        self._connection = ApiConnection(settings, self._cookies)
        self._profiles = Profiles()
        self._assets = Assets()
        self._renderer = DocumentRenderer()
        self.streams = Streams()
        self.families: Sequence[Family] = find_families()
        self._headers = security_headers(settings.base_url)
        if settings.is_secure:
            self._headers["Strict-Transport-Security"] = STRICT_TRANSPORT
        self._templates = self._environment(settings)

    def app(self) -> ASGIApp:
        """Return the ASGI application of the public port."""
        screens = [screen for family in self.families for screen in family.screens]
        paths = dict.fromkeys(screen.path for screen in screens)
        routes = [Route("/static/{digest}/{name}", self._assets.respond)]
        for path in paths:
            # One route for a path: a page and its action often share it, and 405 names both methods.
            by_method: dict[str, Screen] = {screen.method: screen for screen in screens if screen.path == path}
            routes.append(Route(path, Endpoint(self, by_method).respond, methods=list(by_method)))
        missing = Screen("GET", "/{path:path}", self._not_found)
        routes.append(Route(missing.path, Endpoint(self, {"GET": missing}).respond, methods=["GET"]))
        errors = dict.fromkeys((HTTPException, Exception), self._error_page)
        app = Starlette(routes=routes, lifespan=self._lifespan, exception_handlers=errors)
        app.state.streams = self.streams
        return SecuredResponses(app, self._headers)

    async def close(self) -> None:
        self._renderer.close()
        await self._connection.close()

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await self.close()

    def _environment(self, settings: Settings) -> Environment:
        # Absent optional fields of the API are empty texts. Every text is escaped.
        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=ChainableUndefined,
            finalize=lambda value: "" if value is None else value,
        )
        environment.filters |= formats.FILTERS | messages.FILTERS | {"account_words": account_words}
        environment.globals |= {
            "asset": self._assets.url,
            "menu": self._menu,
            "phone_bar": self._phone_bar,
            "shortcuts": shortcuts,
            "api_origin": settings.base_url,
            "present_instant": _present_instant,
        }
        return environment

    def _menu(self, visit: Visit) -> list[tuple[str, list[Screen]]]:
        """Return the entries that the person may open, by family."""
        groups = [(family.name, [one for one in family.screens if one.is_in_menu(visit)]) for family in self.families]
        return [(name, screens) for name, screens in groups if screens]

    def _phone_bar(self, visit: Visit) -> list[Screen]:
        """Return the screens of the bar at the bottom of a phone; a single one is in the menu only."""
        screens = [one for family in self.families for one in family.screens if one.icon and one.is_in_menu(visit)]
        return screens if len(screens) > 1 else []

    async def respond(self, screen: Screen, request: Request) -> Response:
        """Run the screen and render what it raises. The cookie is written when the session changed."""
        session = self._cookies.read(request.headers.getlist("cookie"))
        # A reader of the page's own source learns the token of this session only.
        is_new, before = not session.access_token, repr(session)
        visit = self._visit(request, session)
        visit.title = screen.title
        try:
            response = await self._checked(screen, visit)
        except SessionEnded:
            response = self._show_sign_in(visit)
        except ApiProblem as problem:
            response = await self._problem_page(visit, problem)
        response = response_to_stream(visit, response)
        if repr(session) != before or (is_new and screen.is_open):
            self._cookies.write(response, session)
        return response

    def _visit(self, request: Request, session: Session) -> Visit:
        api = Api(self._connection, self._cookies, session, _about_the_browser(request))
        return Visit(request, session, api, self._templates, self.held, self._console_url)

    async def _error_page(self, request: Request, error: Exception) -> Response:
        """Show an unreadable request or a bug on a page. The session's cookie stays as it is."""
        visit = self._visit(request, Session())
        if not isinstance(error, HTTPException):
            return visit.render("message.html", status=500, title="The console failed", text=_FAILED)
        title = "This request cannot be answered"
        response = visit.render("message.html", status=error.status_code, title=title, text=_UNREADABLE)
        response.headers.update(error.headers or {})
        return response

    async def _checked(self, screen: Screen, visit: Visit) -> Response:
        if screen.method == "POST":
            if not is_same_origin(visit.request, self._console_url):
                return self._refuse(visit, "This form was sent by another page", _FOREIGN_FORM)
            visit.form = await _read_form(visit.request)
        if not screen.is_open:
            if not visit.session.is_signed_in:
                return self._show_sign_in(visit)
            visit.me = await self._profiles.of(visit)
            visit.session.user_id = visit.me.id
        if screen.method == "POST" and not has_csrf_token(visit.form, visit.session):
            return self._refuse(visit, "This form is out of date", _OLD_FORM)
        refused = await self._admission_refused(screen, visit)
        if refused is not None:
            return refused
        if screen.method == "POST":
            return await self._act(screen, visit)
        is_used = self._restore_refused(visit) if visit.me is not None else False
        response = await screen.handler(visit)
        if visit.query.get("format") == "pdf" and response.media_type == HTML and response.status_code == 200:
            response = await paper_response(visit, response, self._renderer)
        if is_used:
            self._refused.write(response, "")
        return response

    async def _admission_refused(self, screen: Screen, visit: Visit) -> Response | None:
        """Return the page in place of a screen that the person may not open; None where they may.

        Staff show their second factor before the first page. A form without it goes to the API, which asks for it.
        """
        if visit.me is not None and visit.me.second_factor_required:
            return await self._request_second_factor(visit) if screen.method == "GET" else None
        if visit.me is not None and not (screen.path.startswith(INVITATIONS) or visit.may(STAFF_PERMISSION)):
            return visit.render("everyone/no_screens.html", status=403, title="No screens for this account")
        if screen.any_of and not visit.may(*screen.any_of):
            return self._refuse(visit, "You may not open this page", _NO_PERMISSION)
        return None

    async def _request_second_factor(self, visit: Visit) -> Response:
        """Ask for the second factor, or show how to set up the first one; then the page follows."""
        if any(factor["confirmed"] for factor in await visit.api.get("/api/auth/mfa/factors")):
            return self._step_up_for_page(visit)
        return visit.render("everyone/second_factor.html", status=403, title="Set up your second factor", factor=None)

    def _step_up_for_page(self, visit: Visit) -> Response:
        return self._show_step_up(visit, HeldForm("/step-up", visit.user.id, [("next", visit.path_and_query)]))

    async def _act(self, screen: Screen, visit: Visit) -> Response:
        """Handle a form: first the second factor that was asked for, then the action itself."""
        if not screen.is_open and visit.form[HELD_FIELD]:
            held = self.held.decrypt(visit.form[HELD_FIELD])
            if held is None or held.user_id != visit.user.id or held.path != visit.path:
                return self._refuse(visit, "This form is out of date", _OLD_FORM)
            try:
                await _step_up(visit)
            except ApiProblem as problem:
                visit.error = problem
                return self._show_step_up(visit, held)
            visit.form = Form(held.fields)
        visit.api.form_key = visit.form[KEY_FIELD]
        try:
            return await screen.handler(visit)
        except ApiProblem as problem:
            if problem.needs_step_up:
                return self._show_step_up(visit, self._hold(visit))
            if screen.page is None or problem.status >= 500:
                raise
            visit.error = problem
            visit.title = next(
                (one.title for family in self.families for one in family.screens if one.handler is screen.page), ""
            )
            return await self._back_to_page(screen, visit, problem)

    async def _back_to_page(self, screen: Screen, visit: Visit, problem: ApiProblem) -> Response:
        """Lead to the page of the refused form, which shows what was typed and why it was refused.

        A form that is too long for a cookie, or that had a file, is shown at once; the script corrects the address.
        """
        page = self._page_of(screen, visit)
        fields = [(name, value) for name, value in visit.form.fields if name not in (*OWN_FIELDS, *_NEVER_KEPT)]
        refused = RefusedForm(
            page, visit.path, visit.user.id, fields, problem.status, problem.extensions, problem.request_id
        )
        text = self.held.encrypt_refused(refused)
        if page and len(text) <= REFUSED_FORM_CHARACTERS_MAX and not visit.form.files:
            response: Response = RedirectResponse(page, 303)
            self._refused.write(response, text)
            return response
        visit.address = page
        assert screen.page is not None  # noqa: S101
        return await screen.page(visit)

    def _page_of(self, action: Screen, visit: Visit) -> str:
        """Return the address of the action's page; empty where it has another parameter than the action."""
        found = [
            one
            for family in self.families
            for one in family.screens
            if one.method == "GET" and one.handler is action.page
        ]
        values = visit.request.path_params
        names = _PARAMETER.findall(found[0].path) if found else []
        if not found or not set(names) <= set(values):
            return ""
        return _PARAMETER.sub(lambda parameter: quote(str(values[parameter[1]]), safe=""), found[0].path)

    def _restore_refused(self, visit: Visit) -> bool:
        """Show the refused form of this page to the person who sent it. Return whether the cookie is used up."""
        text = self._refused.read(visit.request.headers.getlist("cookie"))
        if not text or visit.request.headers.get("hx-request"):
            return False
        refused = self.held.decrypt_refused(text)
        if refused is None or refused.user_id != visit.user.id:
            return True
        if refused.page != visit.path:
            return False
        visit.form, visit.posted = Form(refused.fields), refused.posted
        visit.error = ApiProblem(refused.status, refused.problem, refused.request_id)
        return True

    def _hold(self, visit: Visit) -> HeldForm:
        fields = [(name, value) for name, value in visit.form.fields if name not in OWN_FIELDS]
        return HeldForm(visit.path, visit.session.user_id, fields, had_files=bool(visit.form.files))

    def _show_step_up(self, visit: Visit, held: HeldForm) -> Response:
        status = visit.error.status if visit.error else 403
        return visit.render(
            "everyone/step_up.html",
            status=status,
            title="Confirm that it is you",
            held=self.held.encrypt(held),
            action=held.path,
        )

    def _show_sign_in(self, visit: Visit) -> Response:
        """Ask for the sign-in. A posted form is held in the page; the address is kept for a page."""
        is_code_due = visit.session.is_mfa_due and bool(visit.session.access_token)
        if not is_code_due:
            visit.session.end()
        if visit.request.method == "GET":
            return _redirect(visit, visit.path_and_query)
        held = self.held.encrypt(self._hold(visit))
        return visit.render(
            "everyone/sign_in.html", status=401, title="Sign in again", held=held, next=visit.path, is_expired=True
        )

    def _refuse(self, visit: Visit, title: str, text: str) -> Response:
        return visit.render("message.html", status=403, title=title, text=text)

    async def _problem_page(self, visit: Visit, problem: ApiProblem) -> Response:
        if problem.needs_step_up and visit.request.method == "GET":
            return self._step_up_for_page(visit)
        visit.error = problem
        return visit.render("message.html", title=_title_of(problem), text="")

    async def _not_found(self, visit: Visit) -> Response:
        return visit.render("message.html", status=404, title="There is no such page", text=_NO_PAGE)


_PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")
_NEVER_KEPT: Final = ("pin", "password", "code")
"""Secrets that the person types again."""


class Endpoint:
    """The page and the action of one path."""

    def __init__(self, console: Console, by_method: dict[str, Screen]) -> None:
        self._console = console
        self._by_method = by_method

    async def respond(self, request: Request) -> Response:
        screen = self._by_method["GET" if request.method == "HEAD" else request.method]
        return await self._console.respond(screen, request)


_FOREIGN_FORM: Final = "Nothing was changed. Open the console itself and repeat the step there."
_OLD_FORM: Final = "Nothing was changed. Your session changed since the page opened: reload it, and repeat the step."
_FAILED: Final = "Nothing more is known here. Try again in a minute; support finds the request by its id."
_UNREADABLE: Final = "Nothing was changed. Go back and repeat the step from its page."
_NO_PERMISSION: Final = "Your roles do not include it. A platform admin grants roles under Staff."
_NO_PAGE: Final = "The address may be incomplete, or the row is outside what you may see."


async def _read_form(request: Request) -> Form:
    return Form.of(await request.form(max_fields=FORM_FIELDS_MAX, max_part_size=FILE_BYTES_MAX))


async def _step_up(visit: Visit) -> None:
    if passkey := visit.form[PASSKEY_FIELD]:
        challenge_id, credential = read_passkey(passkey)
        await visit.api.verify_passkey(challenge_id, credential)
    elif code := visit.form[CODE_FIELD]:
        await visit.api.verify_code(code.replace(" ", ""))
    else:
        raise InvalidField("code", "type the six digits of your authenticator app")


def _about_the_browser(request: Request) -> dict[str, str]:
    """Return the browser's address, appended as a proxy does, and its name: the API counts and shows them."""
    peer = request.client.host if request.client else ""
    before = request.headers.get("x-forwarded-for")
    return {
        "X-Forwarded-For": f"{before}, {peer}" if before else peer,
        "User-Agent": request.headers.get("user-agent", SERVICE)[:500],
    }


def _redirect(visit: Visit, path: str) -> Response:
    """Lead to the sign-in, and later back. A request of htmx loads the whole page."""
    if visit.request.headers.get("hx-request"):
        current = urlsplit(visit.request.headers.get("hx-current-url", "/"))
        return Response(headers={"HX-Redirect": f"/sign-in?{urlencode({'next': local_path(current.path)})}"})
    return RedirectResponse(f"/sign-in?{urlencode({'next': local_path(path)})}", 303)


def _present_instant() -> str:
    return SystemClock().now().isoformat()


def _title_of(problem: ApiProblem) -> str:
    if problem.status == 404:
        return "There is no such row"
    return "The marketplace does not respond" if problem.status >= 500 else problem.title
