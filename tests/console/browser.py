"""A person at the console: one browser context, with the checks that every page must pass."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from playwright.async_api import APIResponse, Browser, BrowserContext, ConsoleMessage, Page, Response

from common.primitives.clock import SystemClock
from console.session import Session, SessionCookies, Tokens
from operations.journey import SignedInUser
from testkit.fixtures import eventually

AXE: Final = (Path(__file__).parent / "axe-4.14.0.min.js").read_text()
WIDE: Final = {"width": 1280, "height": 900}
NARROW: Final = {"width": 360, "height": 740}
PAGE_BYTES_MAX: Final = 100_000
WIDER_THAN_THE_PAGE: Final = """[...document.querySelectorAll("body *")]
    .filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth)
    .map((one) => one.outerHTML.slice(0, 120))"""
TOKEN_SECONDS: Final = 600
"""Less than the 15 minutes of an access token."""


SERIOUS: Final = """({violations}) => violations.filter(({impact}) => ["serious", "critical"].includes(impact))
    .flatMap(({id, nodes}) => nodes.map(({html, failureSummary}) => [id, html, failureSummary]))"""
RULES: Final = f"""axe.run({{
  // Contrast is measured below, and what `region` finds is moderate.
  rules: {{"color-contrast": {{enabled: false}}, region: {{enabled: false}}}},
  resultTypes: ["violations"],
}}).then({SERIOUS})"""
CONTRAST: Final = f"""async (readable) => {{
  const grounds = new Map([[null, ""]]);
  const ground = (one) => {{
    if (!grounds.has(one)) {{
      const {{backgroundColor, backgroundImage, opacity, position}} = getComputedStyle(one);
      const own = [backgroundColor, backgroundImage, opacity].join(" ").replace("rgba(0, 0, 0, 0) none 1", "");
      const layer = ["absolute", "fixed", "sticky"].includes(position) ? `.${{one.getAttribute("class")}}` : "";
      grounds.set(one, ground(one.parentElement) + (own || layer ? `/${{own}}${{layer}}` : ""));
    }}
    return grounds.get(one);
  }};
  const hasText = (one) => one.matches("input, select, textarea")
    || [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const styles = new Map();
  for (const one of document.querySelectorAll("body, body *")) {{
    if (!hasText(one) || !one.checkVisibility()) continue;
    const {{color, fontSize, fontWeight, textShadow}} = getComputedStyle(one);
    styles.set(one, [color, fontSize, fontWeight, textShadow, ground(one)].join(" "));
  }}
  const include = [...styles.keys()].filter((one) => !readable.includes(styles.get(one)));
  if (!include.length) return [[], []];
  const found = await axe.run({{include}}, {{runOnly: ["color-contrast"], elementRef: true}});
  const passed = found.passes.flatMap(({{nodes}}) => nodes.map(({{element}}) => styles.get(element)));
  return [({SERIOUS})(found), passed.filter(Boolean)];
}}"""
"""Measure the contrast of each text whose style is not in `readable`: its color, size, weight, and the colors behind
it. Return the faults, and the styles that have enough.
"""
_readable_styles: Final[set[str]] = set()
"""the styles of texts that had enough contrast on a page before."""
IMAGES_ARE_LOADED: Final = "[...document.images].every((one) => one.complete && one.naturalWidth > 0)"
EMPTY_FACTS: Final = """[...document.querySelectorAll("dd")]
    .filter((one) => !one.textContent.trim() && !one.querySelector("img, svg, input"))
    .map((one) => one.parentElement.textContent.trim())"""
CUT_CHOICES: Final = """[...document.querySelectorAll("select")].flatMap((one) => {
  if (!one.checkVisibility()) return [];
  const has = one.clientWidth;
  one.style.maxWidth = "none";
  const needs = one.clientWidth;
  one.style.maxWidth = "";
  return needs > has ? [`${one.name} needs ${needs} px and has ${has}`] : [];
})"""


def short_reference(reference: str) -> str:
    """Return a reference of the gateway as pages show it."""
    return f"{reference[:3]}\N{HORIZONTAL ELLIPSIS}{reference[-8:]}"


async def wait_until(page: Page, expression: str) -> None:
    """Wait until a JavaScript expression is true.

    Playwright's `wait_for_function` evaluates again inside of the page, which the CSP of our pages refuses.
    """
    await eventually(lambda: page.evaluate(expression))


Fault = list[str]
"""The id of a rule of axe, the HTML of an element that breaks it, and how."""


async def accessibility_faults(page: Page) -> list[Fault]:
    """Return the serious faults of accessibility of the open page."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE)
    found: list[Fault] = await page.evaluate(RULES)
    return found + await _pale_texts(page)


async def _pale_texts(page: Page) -> list[Fault]:
    """Return the texts without enough contrast. A style that was readable before is not measured again."""
    found, passed = await page.evaluate(CONTRAST, list(_readable_styles))
    if not found:
        _readable_styles.update(passed)
    return list(found)


class Visitor:
    """One browser context. `errors` collects what the browser reported: script errors and violations of the CSP."""

    blank_page = "/static/-/tokens.css"
    """A page of the same site, without scripts: another site would start another process."""

    def __init__(self, context: BrowserContext, page: Page, console_url: str) -> None:
        self.context = context
        self.page = page
        self.console_url = console_url
        self.errors: list[str] = []
        page.on("console", self._note)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _note(self, message: ConsoleMessage) -> None:
        # The browser also reports each 4xx and 5xx of a page that a test asked for.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    async def open(self, path: str) -> Response:
        """Open a page and return its response."""
        response = await self.page.goto(f"{self.console_url}{path}")
        assert response is not None
        return response

    async def fetch(self, path: str) -> APIResponse:
        """Return the response of a page with the browser's session. The browser does not show it."""
        return await self.context.request.get(f"{self.console_url}{path}")

    async def forget(self) -> None:
        """Forget the person: cookies, permissions, open pages, and the size and colors of the screen."""
        for page in self.context.pages:
            if page is not self.page:
                await page.close()
        await self.open(self.blank_page)
        await self.context.clear_cookies()
        await self.context.clear_permissions()
        await self.page.emulate_media(media="null", color_scheme="null")
        await self.page.set_viewport_size(WIDE)  # type: ignore[arg-type]

    async def bytes_loaded(self) -> dict[str, int]:
        """Return the bytes that crossed the network for the open page, by address, as the browser counts them."""
        await self.page.wait_for_load_state("networkidle")
        loaded: dict[str, int] = await self.page.evaluate(
            """Object.fromEntries(["navigation", "resource"].flatMap((type) =>
                performance.getEntriesByType(type).map((entry) => [entry.name, entry.encodedBodySize])))"""
        )
        return loaded

    async def click(self, name: str, role: Any = "button") -> None:
        await self.page.get_by_role(role, name=name, exact=True).first.click()

    async def fill(self, label: str, text: str) -> None:
        await self.page.get_by_label(label, exact=True).fill(text)

    async def open_section(self, summary: str) -> None:
        """Open a confirmation, `<details>`."""
        await self.page.locator("summary", has_text=summary).click()

    async def text(self) -> str:
        """Return the text of the page's main part."""
        return await self.page.locator("main").inner_text()

    async def heading(self) -> str:
        return await self.page.locator("h1").inner_text()

    async def notice(self) -> str:
        """Return the message after an action."""
        return await self.page.get_by_role("status").inner_text()

    async def check_page(self) -> None:
        """No serious fault of accessibility, no error in the browser, no label without a value, no horizontal scroll at
        360 px.
        """
        await self.check_accessibility()
        assert await self.page.evaluate(EMPTY_FACTS) == [], self.page.url
        await self.page.set_viewport_size(NARROW)  # type: ignore[arg-type]
        await self.check_width()
        await self.page.set_viewport_size(WIDE)  # type: ignore[arg-type]

    async def check_accessibility(self) -> None:
        """No serious fault of accessibility in light colors, enough contrast in dark ones, no error in the browser."""
        assert self.errors == []
        found = await accessibility_faults(self.page)
        await self.page.emulate_media(color_scheme="dark")
        found += await _pale_texts(self.page)
        await self.page.emulate_media(color_scheme="light")
        assert found == [], (self.page.url, found)

    async def check_width(self) -> None:
        """No horizontal scroll, and no choice of a list that is cut."""
        assert await self.page.evaluate(CUT_CHOICES) == [], self.page.url
        overflow = await self.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        if overflow > 0:
            wide = await self.page.evaluate(WIDER_THAN_THE_PAGE)
            raise AssertionError(f"{self.page.url} scrolls by {overflow} px: {wide}")


def sessions_of(secrets: Mapping[str, str]) -> SessionCookies:
    """Return the cookies of a running console."""
    return SessionCookies(secrets["CONSOLE_KEY"], "", is_secure=False, clock=SystemClock())


async def new_visitor(browser: Browser, console_url: str, *, javascript: bool = True) -> Visitor:
    """Return a browser that has not signed in."""
    context = await browser.new_context(viewport=WIDE, locale="en-GB", java_script_enabled=javascript)  # type: ignore[arg-type]
    return Visitor(context, await context.new_page(), console_url)


async def adopt_session(visitor: Visitor, user: SignedInUser, secrets: Mapping[str, str]) -> None:
    """Sign the browser in with tokens of the API: a code of an authenticator app works once in 30 s, a test needs many
    sign-ins.
    """
    cookies, session = sessions_of(secrets), Session()
    session.accept(Tokens(user.access_token, user.refresh_token, TOKEN_SECONDS), cookies.now())
    await visitor.context.add_cookies([_cookie(cookies, session, visitor.console_url)])


def _cookie(cookies: SessionCookies, session: Session, url: str) -> Any:
    from starlette.responses import Response as StarletteResponse

    response = StarletteResponse()
    cookies.write(response, session)
    value = re.match(r"[^=]+=([^;]+)", response.headers["set-cookie"])
    assert value is not None
    return {"name": cookies.name, "value": value[1], "url": url, "httpOnly": True, "sameSite": "Lax"}
