"""The pages for people: jinja2 templates with their style inside, nothing loaded from elsewhere."""

from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from starlette.responses import HTMLResponse, Response

SYMBOLS = {"NGN": "₦", "GHS": "GH₵", "KES": "KSh ", "ZAR": "R ", "USD": "$"}

# Nothing from outside may load, neither for our pages nor for a mail shown in one of them.
SECURITY = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline';"
    " img-src data:; connect-src 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


def money(amount_minor: int, currency: str) -> str:
    """Minor units for people: `₦5,000.00`."""
    whole, part = divmod(amount_minor, 100)
    return f"{SYMBOLS.get(currency, currency + ' ')}{whole:,}.{part:02}"


templates = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
templates.filters["money"] = money


def render(template: str, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(templates.get_template(template).render(**values), status, SECURITY)
