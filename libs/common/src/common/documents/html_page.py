"""A document as a page without scripts and foreign styles, for browsers and their printers."""

import base64
import hashlib
from importlib.resources import files
from typing import Final

import jinja2
from markupsafe import Markup

from common.documents.document import Document, local_time

_STYLE: Final = files(__package__).joinpath("templates/document.css").read_text(encoding="utf-8")
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY: Final = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PAGES: Final = jinja2.Environment(
    loader=jinja2.PackageLoader("common.documents", "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_PAGES.filters["local_time"] = local_time


def render_html(document: Document) -> bytes:
    """Return the page in UTF-8. Every text of the document is escaped."""
    # The only text that is not escaped is our own style; the policy has its hash.
    style = Markup(_STYLE)  # noqa: S704 - a constant of this package
    return _PAGES.get_template("document.html").render(document=document, style=style).encode()
