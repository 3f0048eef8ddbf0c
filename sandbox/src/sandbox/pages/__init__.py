"""The pages for people: jinja2 templates with one style sheet and one script of our own, nothing loaded from
elsewhere.
"""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

SYMBOLS = {"NGN": "₦", "GHS": "GH₵", "KES": "KSh ", "ZAR": "R ", "USD": "$"}

# Nothing from outside may load, neither for our pages nor for a mail shown in one of them.
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; connect-src "
    "'self';"
    " frame-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}
# A mail brings styles of its own; it is shown in a frame without scripts, forms and an origin.
MAIL_SECURITY = SECURITY | {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none';"
    " frame-ancestors 'self'; sandbox"
}
ASSETS = {
    name: (Path(__file__).parent.joinpath("assets", name).read_bytes(), media_type)
    for name, media_type in (("sandbox.css", "text/css"), ("sandbox.js", "text/javascript"))
}


def money(amount_minor: int, currency: str) -> str:
    """Minor units for people: `₦5,000.00`."""
    whole, part = divmod(amount_minor, 100)
    return f"{SYMBOLS.get(currency, currency + ' ')}{whole:,}.{part:02}"


templates = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
templates.filters["money"] = money


def render(template: str, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(templates.get_template(template).render(**values), status, SECURITY)


async def show_asset(request: Request) -> Response:
    """Return a style sheet or script of the pages."""
    found = ASSETS.get(request.path_params["name"])
    if found is None:
        raise HTTPException(404, "No such file")
    body, media_type = found
    return Response(
        body, media_type=media_type, headers={"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
    )
