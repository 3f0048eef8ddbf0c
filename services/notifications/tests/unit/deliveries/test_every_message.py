"""Every message on every channel, with complete and hostile values: well-formed, escaped, short, without links."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from notifications.deliveries.domain.approved_templates import APPROVED_TEMPLATES
from notifications.deliveries.domain.channels import CHANNELS
from notifications.deliveries.domain.sms_segments import SEGMENTS_MAX, segment_count
from notifications.deliveries.domain.templates import CATALOG, check_complete
from notifications.deliveries.templates.examples import example_of
from notifications.deliveries.templates.preview import CONSOLE_EXAMPLE, STOREFRONT_EXAMPLE, preview_page, write_preview
from notifications.deliveries.templates.renderer import RECIPIENT_NAME, MessageRenderer
from testkit.cases import for_each

RENDERER = MessageRenderer()
HOSTILE = "</p><script>alert('x')</script>\"&<b>"
# The visible part of a subject on a small screen, and the line length of RFC 5322.
SUBJECT_MAX = 78
# These go to an unproven address, with a name that another user may have typed.
UNNAMED = {"confirm_email", "already_registered"}
VOID = {"meta", "br", "hr", "img", "link"}


class Strict(HTMLParser):
    """Check that elements are closed; collect addresses and scripts."""

    def __init__(self):
        super().__init__()
        self.open, self.suspicious, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "img", "a", "link", "iframe", "form"):
            self.suspicious.append(tag)
        self.suspicious += [name for name, _ in attrs if name.startswith("on") or name in ("href", "src")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def values_of(name, *, hostile=False):
    values = example_of(name)
    if hostile:
        kinds = CATALOG[name].parameters
        values |= {parameter: HOSTILE for parameter, kind in kinds.items() if kind == "text"}
        values |= {"items": [{"name": HOSTILE, "quantity": 1, "lineTotalMinor": 1}]} if "items" in kinds else {}
    return values


@for_each("name", CATALOG)
def test_a_message_is_well_formed_and_escaped_on_each_channel(name) -> None:
    template = CATALOG[name]
    for hostile in (False, True):
        values = values_of(name, hostile=hostile)
        check_complete(template, values)
        greeted = {**values, RECIPIENT_NAME: HOSTILE if hostile else "Chidi"}
        for channel in template.channels:
            message = RENDERER.message(channel, name, greeted)
            words = f"{message.subject} {message.text}"
            assert not any(hole in words for hole in ("{{", "{%", "None", "Undefined"))
            assert not any(link in words.lower() for link in ("http:", "https:", "www."))
            if channel == "sms":
                assert segment_count(message.text) <= (SEGMENTS_MAX if hostile else 1)
            elif channel == "messaging":
                assert len(message.parameters) == len(APPROVED_TEMPLATES[name].parameters)
            elif channel == "email":
                page = Strict()
                page.feed(message.html)
                page.close()
                assert page.open == []
                assert page.suspicious == []
                shown = values if name in UNNAMED else greeted
                assert ("alert('x')" in "".join(page.text)) == (HOSTILE in shown.values())
                assert "\n" not in message.subject
                assert hostile or len(message.subject) <= SUBJECT_MAX
            else:
                assert message.subject
                assert message.text


@pytest.mark.parametrize("name", [name for name, template in CATALOG.items() if template.secrets and template.in_feed])
def test_the_feed_mentions_a_secret_without_its_value(name) -> None:
    secrets = dict.fromkeys(CATALOG[name].secrets, "918273")
    line = RENDERER.feed_entry(name, {**example_of(name), **secrets, RECIPIENT_NAME: "Chidi"})
    assert line.body
    assert "918273" not in line.title + line.body


def test_the_preview_shows_every_message_without_scripts(tmp_path: Path) -> None:
    page = write_preview(["--out", str(tmp_path / "made")]).read_text()
    assert page == preview_page(MessageRenderer(STOREFRONT_EXAMPLE, CONSOLE_EXAMPLE))
    for name, template in CATALOG.items():
        start = page.index(f'<section id="{name}">')
        section = page[start : page.index("</section>", start)]
        assert section.count("<pre>") == len(template.channels) + template.in_feed
        assert section.count("<iframe") == ("email" in template.channels)
        assert all(f"<h3>{channel}" in section for channel in CHANNELS if channel in template.channels)
    assert "<script" not in page


@pytest.mark.parametrize("name", sorted(UNNAMED))
def test_a_mail_to_an_unproven_address_shows_no_name(name) -> None:
    message = RENDERER.message("email", name, {**values_of(name), RECIPIENT_NAME: "Visit evil dot example"})
    assert "evil" not in f"{message.subject} {message.text} {message.html}"
