"""A page with every rendered message: `python -m notifications preview [--out folder]`."""

import argparse
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Final

from notifications.deliveries.domain.approved_templates import APPROVED_TEMPLATES
from notifications.deliveries.domain.channels import CHANNELS, CHANNELS_BY_TEMPLATE
from notifications.deliveries.domain.sms_segments import segment_count
from notifications.deliveries.domain.templates import CATALOG
from notifications.deliveries.templates.examples import example_of
from notifications.deliveries.templates.renderer import RECIPIENT_NAME, MessageRenderer

STOREFRONT_EXAMPLE: Final = "https://campus.example"
CONSOLE_EXAMPLE: Final = "https://console.campus.example"
_STYLE: Final = """
body{font-family:Arial,Helvetica,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1f2933}
section{border-top:1px solid #cbd2d9;padding:1rem 0}
h3{font-size:.9rem;color:#52606d;margin:.8rem 0 .2rem}
pre{white-space:pre-wrap;background:#f4f5f7;padding:.6rem;margin:0}
iframe{width:100%;height:20rem;border:1px solid #cbd2d9}
"""


def write_preview(arguments: Sequence[str]) -> Path:
    """Write index.html to the folder and return its path."""
    parser = argparse.ArgumentParser(prog="python -m notifications preview", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("preview"), help="the folder (preview)")
    folder: Path = parser.parse_args(arguments).out
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    page.write_text(preview_page(MessageRenderer(STOREFRONT_EXAMPLE, CONSOLE_EXAMPLE)), encoding="utf-8")
    return page


def preview_page(renderer: MessageRenderer) -> str:
    """Render one section for each message, with every channel and the feed."""
    contents = " · ".join(f'<a href="#{name}">{name}</a>' for name in CATALOG)
    sections = "".join(_section(renderer, name) for name in CATALOG)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Messages</title>'
        f"<style>{_STYLE}</style></head><body><h1>Messages</h1><p>{contents}</p>{sections}</body></html>\n"
    )


def _section(renderer: MessageRenderer, name: str) -> str:
    template, values = CATALOG[name], {**example_of(name), RECIPIENT_NAME: "Chidi"}
    channels = ", ".join(CHANNELS_BY_TEMPLATE.get(name, ())) or "by the kind of message"
    parts = [f'<section id="{name}"><h2>{name}</h2><p>Channels: {channels}.</p>']
    if template.in_feed:
        line = renderer.feed_entry(name, values)
        parts.append(_shown("feed", f"{line.title}\n{line.body}"))
    for channel in (channel for channel in CHANNELS if channel in template.channels):
        message = renderer.message(channel, name, values)
        if channel == "sms":
            parts.append(
                _shown(f"sms, {len(message.text)} characters, parts: {segment_count(message.text)}", message.text)
            )
        elif channel == "messaging":
            pairs = zip(APPROVED_TEMPLATES[name].parameters, message.parameters, strict=True)
            parts.append(_shown("messaging", "\n".join(f"{parameter}: {value}" for parameter, value in pairs)))
        elif channel == "push":
            parts.append(_shown("push", f"{message.subject}\n{message.text}"))
        else:
            parts.append(_shown("email", f"Subject: {message.subject}\n\n{message.text}"))
            parts.append(f'<iframe title="{name} as HTML" srcdoc="{escape(message.html)}"></iframe>')
    return "".join([*parts, "</section>"])


def _shown(heading: str, text: str) -> str:
    return f"<h3>{escape(heading)}</h3><pre>{escape(text)}</pre>"
