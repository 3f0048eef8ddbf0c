"""Odd requests of browsers: cookies of the whole domain, proxies, errors, and the forms of two people."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from common.primitives.clock import SystemClock
from common.web.request_scope import RequestScope
from console.app import FORM_FIELDS_MAX, Console
from console.session import Session, SessionCookies, Tokens
from console.settings import Settings
from testkit.service_kit import served

KEY = "k" * 16
PRODUCT_ID = str(uuid4())
VENDOR_ID = str(uuid4())
ODD_COOKIES = (
    'consent={"ads":false,"at":"now, or later"}',
    "hall=Moremi Hall",
    "seen",
    "=empty name",
    "name=Ọlá",
    "a/b=1",
    "k(=1",
    "x,y=1",
    'open="quote',
    "tab=a\tb",
    "session=not ours",
    "a=b=c==",
)


class MarketplaceApi:
    """The part of the API that these pages call. `ended` are access tokens that are no longer accepted."""

    def __init__(self) -> None:
        self.ended: set[str] = set()
        self.stock, self.revision = 6, 1
        self.name = "Puff puff"
        self.sources: list[tuple[str, str]] = []

    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/api/auth/login", self._login, methods=["POST"]),
                Route("/api/auth/refresh", self._refuse, methods=["POST"]),
                Route("/api/profiles/current", self._profile),
                Route("/api/products", self._create, methods=["POST"]),
                Route("/api/products/mine", self._broken_list),
                Route("/api/products/{id}", self._product, methods=["GET", "PATCH"]),
                Route("/api/products/{id}/reviews", self._reviews),
                Route("/api/banks", self._unavailable),
            ]
        )

    async def _login(self, request: Request) -> Response:
        assert request.client is not None
        self.sources.append((request.client.host, request.headers["x-forwarded-for"]))
        email = (await request.json())["email"]
        return _envelope({"accessToken": f"{email} again", "refreshToken": "r", "expiresIn": 900, "mfaRequired": False})

    async def _refuse(self, _: Request) -> Response:
        return JSONResponse({"code": "AUTH_UNAUTHORIZED", "title": "Unauthorized", "status": 401}, 401)

    async def _profile(self, request: Request) -> Response:
        token = request.headers["authorization"].removeprefix("Bearer ")
        if token in self.ended:
            return await self._refuse(request)
        email = token.removesuffix(" again")
        permissions = ["work:read", "catalog:own", "bank_details:own"]
        profile = {"id": f"id-of-{email}", "email": email, "fullName": None, "role": "merchant", "roles": ["merchant"]}
        return _envelope({**profile, "permissions": permissions, "vendorId": VENDOR_ID})

    async def _product(self, request: Request) -> Response:
        if request.headers["authorization"].removeprefix("Bearer ") in self.ended:
            return await self._refuse(request)
        if request.method == "PATCH":
            body = await request.json()
            if body["revision"] != self.revision:
                problem = {"code": "CONFLICT", "title": "Conflict", "status": 409, "detail": "The product was changed."}
                return JSONResponse(problem, 409)
            self.stock, self.name = body.get("stock", self.stock), body.get("name", self.name)
            self.revision += 1
        return _envelope(self.product())

    async def _create(self, request: Request) -> Response:
        token = request.headers["authorization"].removeprefix("Bearer ")
        return await self._refuse(request) if token in self.ended else _envelope(self.product())

    async def _broken_list(self, _: Request) -> Response:
        return _envelope({"not": "a list"})

    async def _unavailable(self, _: Request) -> Response:
        return JSONResponse({"code": "INTERNAL_ERROR", "title": "Service unavailable", "status": 503}, 503)

    async def _reviews(self, _: Request) -> Response:
        return _envelope([])

    def product(self) -> dict[str, Any]:
        return {
            "id": PRODUCT_ID, "vendorId": VENDOR_ID, "name": self.name, "description": "A dozen", "category": "food",
            "priceMinor": 50_000, "stock": self.stock, "revision": self.revision, "status": "published", "images": [],
        }  # fmt: skip

    def sell(self, quantity: int) -> None:
        self.stock -= quantity
        self.revision += 1


def _envelope(data: Any) -> Response:
    return JSONResponse({"data": data, "meta": {}})


class Browser:
    """One browser at the console, with the cookies that it keeps."""

    def __init__(self, http: httpx.AsyncClient, origin: str) -> None:
        self.http = http
        self.origin = origin
        self.session_cookie = ""
        self.form_cookie = ""

    def sign_in(self, email: str) -> None:
        cookies, session, written = _cookies(), Session(), Response()
        session.accept(Tokens(email, "r", 900), cookies.now())
        cookies.write(written, session)
        self._keep(httpx.Headers(written.headers.items()))

    async def open(self, path: str, *, cookies: str = "", **headers: str) -> httpx.Response:
        return await self._send("GET", path, cookies, headers)

    async def post(self, path: str, fields: dict[str, str], **headers: str) -> httpx.Response:
        return await self._send("POST", path, "", {"Origin": self.origin, **headers}, data=fields)

    async def refused(self, path: str, fields: dict[str, str]) -> httpx.Response:
        """Post a form that is refused, and return its page."""
        response = await self.post(path, fields)
        assert response.status_code == 303
        return await self.open(response.headers["location"])

    async def _send(self, method: str, path: str, cookies: str, headers: dict[str, str], **more: Any) -> httpx.Response:
        sent = {name.replace("_", "-").encode(): value.encode() for name, value in headers.items()}
        together = "; ".join(filter(None, (cookies, self.form_cookie, self.session_cookie)))
        sent |= {b"Cookie": together.encode()} if together else {}
        response = await self.http.request(method, path, headers=list(sent.items()), **more)
        self._keep(response.headers)
        return response

    def _keep(self, headers: httpx.Headers) -> None:
        for written in headers.get_list("set-cookie"):
            cookie = written.partition(";")[0]
            if not cookie.startswith("console-form="):
                self.session_cookie = cookie
            else:
                self.form_cookie = "" if "Max-Age=0" in written else cookie


def _cookies() -> SessionCookies:
    return SessionCookies(KEY, "", is_secure=False, clock=SystemClock())


def fields_of(page: httpx.Response, action: str) -> dict[str, str]:
    """Return the hidden and typed fields of the form with this action."""
    form = re.search(rf'<form[^>]*action="{re.escape(action)}".*?</form>', page.text, re.DOTALL)
    assert form is not None, page.text
    inputs = re.findall(r"<input[^>]*>", form[0])
    named = {_attribute(one, "name"): _attribute(one, "value") for one in inputs}
    texts = dict(re.findall(r'<textarea[^>]*name="(\w+)"[^>]*>(.*?)</textarea>', form[0], re.DOTALL))
    return {name: value for name, value in (named | texts).items() if name}


def _attribute(tag: str, name: str) -> str:
    found = re.search(rf'\b{name}="([^"]*)"', tag)
    return found[1] if found else ""


@pytest.fixture
def api() -> MarketplaceApi:
    return MarketplaceApi()


@asynccontextmanager
async def browsing(api: MarketplaceApi, console_url: str, **changes: str) -> AsyncIterator[Browser]:
    async with served(api.app()) as api_url:
        addresses = {"api_url": api_url, "console_url": console_url, **changes}
        settings = Settings(port=1, metrics_port=2, console_key=KEY, **addresses)
        console = Console(settings)
        transport = httpx.ASGITransport(app=RequestScope(console.app()), raise_app_exceptions=False)
        async with httpx.AsyncClient(base_url="http://console.internal", transport=transport) as http:
            yield Browser(http, console_url)
        await console.close()


@pytest.fixture
async def browser(api: MarketplaceApi) -> AsyncIterator[Browser]:
    async with browsing(api, "http://console.campus.example") as opened:
        yield opened


@pytest.mark.parametrize("cookie", ODD_COOKIES)
async def test_a_foreign_cookie_of_any_form_keeps_the_session(browser: Browser, cookie: str) -> None:
    browser.sign_in("ada")
    page = await browser.open(f"/products/{PRODUCT_ID}", cookies=cookie)
    assert page.status_code == 200
    assert "Puff puff" in page.text
    assert (await browser.open(f"/products/{PRODUCT_ID}", cookies=f"{cookie}; {cookie}")).status_code == 200


@pytest.mark.parametrize("value", ["", "x", "k.1", "%00", "Ọlá", '"', "e1.abc.def", "A" * 8000])
async def test_a_foreign_cookie_named_as_ours_keeps_the_session(browser: Browser, value: str) -> None:
    browser.sign_in("ada")
    page = await browser.open(f"/products/{PRODUCT_ID}", cookies=f"console={value}")
    assert page.status_code == 200


async def test_cookies_of_several_headers_are_read(browser: Browser) -> None:
    browser.sign_in("ada")
    headers = [("Cookie", "seen=1"), ("Cookie", browser.session_cookie)]
    page = await browser.http.get(f"/products/{PRODUCT_ID}", headers=headers)
    assert page.status_code == 200


async def test_every_response_has_the_security_headers(browser: Browser, api: MarketplaceApi) -> None:
    pages = {
        "not found": await browser.http.get("/nothing/here"),
        "method": await browser.http.put("/me"),
        "no action": await browser.http.post("/nothing/here"),
        "foreign form": await browser.http.post("/sign-in"),
        "static": await browser.http.get("/static/0/nothing.css"),
        "parts": await browser.post("/sign-in", {f"f{n}": "1" for n in range(FORM_FIELDS_MAX + 1)}),
    }
    browser.sign_in("ada")
    pages["bug"] = await browser.open("/products")
    assert {name: page.status_code for name, page in pages.items()} == {
        "not found": 303, "method": 405, "no action": 405, "foreign form": 403, "static": 404, "parts": 400, "bug": 500,
    }  # fmt: skip
    for name, page in pages.items():
        assert "default-src 'none'" in page.headers["content-security-policy"], name
        assert page.headers["x-content-type-options"] == "nosniff", name
        assert page.headers["cache-control"] == "no-store", name
    assert "<h1>The console failed</h1>" in pages["bug"].text
    assert (await browser.open(f"/products/{PRODUCT_ID}")).status_code == 200


@pytest.mark.parametrize(
    ("console_url", "host"),
    [
        ("https://console.campus.example", "console.campus.example:443"),
        ("https://console.campus.example", "console.internal:8080"),
        ("https://other.campus.example", "console.campus.example:443"),
    ],
)
async def test_a_form_is_accepted_through_a_proxy(api: MarketplaceApi, console_url: str, host: str) -> None:
    async with browsing(api, console_url) as browser:
        page = await browser.open("/sign-in", Host=host)
        fields = {**fields_of(page, "/sign-in"), "email": "ada", "password": "secret"}
        origin = "https://console.campus.example"
        assert (await browser.post("/sign-in", fields, Host=host, Origin=origin)).status_code == 303


@pytest.mark.parametrize("origin", ["https://evil.example", "http://console.campus.example", "null", "https://[", ""])
async def test_a_form_of_another_origin_is_refused(api: MarketplaceApi, origin: str) -> None:
    async with browsing(api, "https://console.campus.example") as browser:
        page = await browser.open("/sign-in")
        fields = {**fields_of(page, "/sign-in"), "email": "ada", "password": "secret"}
        response = await browser.post("/sign-in", fields, Host="console.campus.example:443", Origin=origin)
        assert response.status_code == 403


async def _interrupted(browser: Browser, api: MarketplaceApi) -> httpx.Response:
    """Ada's session ends before she sends the form of a new product."""
    browser.sign_in("ada")
    page = await browser.open("/products/new")
    api.ended.add("ada")
    fields = {**fields_of(page, "/products/new"), "name": "Ada's secret recipe", "priceMinor": "5", "stock": "1"}
    held = await browser.post("/products/new", fields)
    assert held.status_code == 401
    return held


async def _sign_in(browser: Browser, page: httpx.Response, email: str) -> httpx.Response:
    return await browser.post("/sign-in", {**fields_of(page, "/sign-in"), "email": email, "password": "secret"})


async def test_a_held_form_is_offered_to_its_user(browser: Browser, api: MarketplaceApi) -> None:
    held = await _interrupted(browser, api)
    assert "secret recipe" in (await _sign_in(browser, held, "ada")).text


async def test_a_held_form_is_offered_to_no_other_user(browser: Browser, api: MarketplaceApi) -> None:
    held = await _interrupted(browser, api)
    shown = await _sign_in(browser, held, "bola")
    assert shown.status_code == 303
    assert "secret recipe" not in shown.text


async def test_a_form_held_without_a_user_is_not_offered(browser: Browser, api: MarketplaceApi) -> None:
    browser.session_cookie = ""
    held = await browser.post("/products/new", {"name": "Ada's secret recipe"})
    assert held.status_code == 401
    await browser.open("/sign-in")
    shown = await _sign_in(browser, held, "bola")
    assert "secret recipe" not in shown.text


async def test_a_held_form_survives_a_page_that_was_opened_meanwhile(browser: Browser, api: MarketplaceApi) -> None:
    browser.sign_in("ada")
    page = await browser.open("/products/new")
    api.ended.add("ada")
    assert (await browser.open(f"/products/{PRODUCT_ID}")).status_code == 303
    fields = {**fields_of(page, "/products/new"), "name": "Ada's secret recipe", "priceMinor": "5", "stock": "1"}
    held = await browser.post("/products/new", fields)
    assert held.status_code == 401
    assert "secret recipe" in (await _sign_in(browser, held, "ada")).text


async def test_a_refused_stock_pressed_again_undoes_no_sale(browser: Browser, api: MarketplaceApi) -> None:
    browser.sign_in("ada")
    action = f"/products/{PRODUCT_ID}/stock"
    page = await browser.open(f"/products/{PRODUCT_ID}")
    api.sell(3)
    refused = await browser.refused(action, {**fields_of(page, action), "stock": "6"})
    assert refused.status_code == 409
    assert "In stock now: 3." in refused.text
    again = await browser.post(action, fields_of(refused, action))
    assert (again.status_code, api.stock) == (303, 3)


async def test_a_form_without_a_list_of_banks_explains_it(browser: Browser) -> None:
    browser.sign_in("ada")
    page = await browser.open("/bank-details")
    assert page.status_code == 200
    assert "The list of banks cannot be loaded at the moment." in page.text


async def test_details_are_saved_although_the_product_was_sold_meanwhile(browser: Browser, api: MarketplaceApi) -> None:
    browser.sign_in("ada")
    action = f"/products/{PRODUCT_ID}/edit"
    page = await browser.open(f"/products/{PRODUCT_ID}")
    api.sell(3)
    saved = await browser.post(action, {**fields_of(page, action), "name": "Puff puff, large"})
    assert (saved.status_code, api.name, api.stock) == (303, "Puff puff, large", 3)


async def test_refused_details_pressed_again_overwrite_nothing(browser: Browser, api: MarketplaceApi) -> None:
    browser.sign_in("ada")
    action = f"/products/{PRODUCT_ID}/edit"
    page = await browser.open(f"/products/{PRODUCT_ID}")
    api.name, api.revision = "Changed in another tab", 2
    refused = await browser.refused(action, {**fields_of(page, action), "name": "Typed here"})
    assert refused.status_code == 409
    again = await browser.refused(action, fields_of(refused, action))
    assert (again.status_code, api.name) == (409, "Changed in another tab")
    assert fields_of(again, action)["name"] == "Typed here"


async def _refused_name(browser: Browser, api: MarketplaceApi, typed: str) -> httpx.Response:
    """Ada changes a product that changed in another tab."""
    browser.sign_in("ada")
    action = f"/products/{PRODUCT_ID}/edit"
    page = await browser.open(f"/products/{PRODUCT_ID}")
    api.name, api.revision = "Changed in another tab", api.revision + 1
    return await browser.post(action, {**fields_of(page, action), "name": typed})


async def test_a_refused_form_is_shown_once_at_the_address_of_its_page(browser: Browser, api: MarketplaceApi) -> None:
    response = await _refused_name(browser, api, "Typed by Ada")
    assert (response.status_code, response.headers["location"]) == (303, f"/products/{PRODUCT_ID}")
    assert (await browser.open("/me/nothing")).status_code == 404
    page = await browser.open(f"/products/{PRODUCT_ID}")
    assert page.status_code == 409
    assert "Typed by Ada" in page.text
    assert "The product was changed." in page.text
    again = await browser.open(f"/products/{PRODUCT_ID}")
    assert again.status_code == 200
    assert "Typed by Ada" not in again.text


async def test_a_refused_form_is_shown_to_no_other_user(browser: Browser, api: MarketplaceApi) -> None:
    await _refused_name(browser, api, "Typed by Ada")
    browser.sign_in("bola")
    assert browser.form_cookie
    page = await browser.open(f"/products/{PRODUCT_ID}")
    assert page.status_code == 200
    assert "Typed by Ada" not in page.text
    assert not browser.form_cookie


async def test_a_changed_cookie_of_a_refused_form_is_ignored(browser: Browser, api: MarketplaceApi) -> None:
    await _refused_name(browser, api, "Typed by Ada")
    browser.form_cookie = browser.form_cookie[:-2]
    page = await browser.open(f"/products/{PRODUCT_ID}")
    assert page.status_code == 200
    assert "Typed by Ada" not in page.text


async def test_a_long_refused_form_is_shown_at_once(browser: Browser, api: MarketplaceApi) -> None:
    response = await _refused_name(browser, api, "long " * 1000)
    assert response.status_code == 409
    assert "long long" in response.text
    assert f'data-address="/products/{PRODUCT_ID}"' in response.text


async def test_the_console_names_the_browser_from_an_address_of_its_own(api: MarketplaceApi) -> None:
    async with browsing(api, "http://console.campus.example", api_source_address="127.0.0.2") as browser:
        page = await browser.open("/sign-in")
        await _sign_in(browser, page, "ada")
    assert api.sources == [("127.0.0.2", "127.0.0.1")]
