"""Rendering of receipts, remittances and invoices."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pypdfium2
import pytest
from starlette.requests import Request

from common.documents.document import Document, Paper, PaperPart, Party, document_number, local_time
from common.documents.html_page import POLICY, render_html
from common.documents.media_types import NotAcceptable, accepted_type
from common.documents.pdf_file import render_paper, render_pdf
from common.documents.rendering import DocumentRenderer, DocumentRendererBusy

OFFERED = ("application/pdf", "text/html")
DOCUMENT = Document(
    title="Receipt",
    number="RC-9F21C0D4-000012",
    issued_at=datetime(2026, 11, 30, 23, 20, tzinfo=UTC),
    parties=(Party("Seller", "Ada's Kitchen"), Party("Buyer", None)),
    facts=(("Order", "CM-7K3M-9QZ2"),),
    columns=("Product", "Quantity", "Price", "Amount"),
    lines=(("Jollof Rice", "2", "₦1,500.00", "₦3,000.00"),),
    sums=(("Total paid", "₦3,000.00"),),
    note="Thank you.",
)
# The names are in NFC, as they are stored.
NAMES = {
    "Yoruba": "Ọláyínká Adébáyọ̀",
    "Igbo": "Ụzọ Ọ́bị Ṅwá",
    "Hausa": "Ɓala Ɗan Ƙaura",
    "Arabic": "محمد",
    "Hebrew": "דוד",
    "Cyrillic": "Анна",
    "Greek": "Ελένη",
    "Amharic": "አማርኛ",
    "Devanagari": "राम",
    "Thai": "ไทย",
    "Vai": "ꔀꔁ",
    "Han": "漢字",
    "Kana": "かな",
}


def with_name(name: str) -> Document:
    return replace(DOCUMENT, parties=(Party("Seller", name),), lines=((name, "1", "₦1.00", "₦1.00"),))


def pages_of(content: bytes) -> list[str]:
    with pypdfium2.PdfDocument(content) as opened:
        return [page.get_textpage().get_text_range() for page in opened]


def test_a_pdf_shows_number_parties_lines_and_sums() -> None:
    [text] = pages_of(render_pdf(DOCUMENT))
    shown = (
        "RC-9F21C0D4-000012",
        "1 December 2026, 00:20",
        "Ada's Kitchen",
        "Account closed",
        "Jollof Rice",
        "₦3,000.00",
    )
    assert [one for one in (*shown, "CM-7K3M-9QZ2", "Total paid", "Thank you.") if one not in text] == []


@pytest.mark.parametrize("script", NAMES)
def test_a_pdf_shows_names_of_every_script(script: str) -> None:
    [text] = pages_of(render_pdf(with_name(NAMES[script])))
    assert "\u25a1" not in text
    # Text is stored in the sequence of its glyphs, which differs from that of the letters in some scripts.
    assert set(NAMES[script]) - set(text) == set()


def test_a_character_that_no_font_has_is_a_box() -> None:
    [text] = pages_of(render_pdf(with_name("Suya \U0001f362 \U00012000")))
    assert "Suya \u25a1 \u25a1" in text


def test_control_characters_and_surrogate_pairs_end_no_rendering() -> None:
    assert pages_of(render_pdf(with_name("a\x00\x07\ufffe b\u202e \U0010ffff")))


def test_many_lines_continue_on_numbered_pages() -> None:
    document = replace(DOCUMENT, lines=DOCUMENT.lines * 90)
    texts = pages_of(render_pdf(document))
    assert len(texts) > 1
    # The reader of the test separates the letters of a line by its own guess.
    assert all(f"{DOCUMENT.number}·page{page}" in "".join(text.split()) for page, text in enumerate(texts, start=1))


@pytest.mark.parametrize("columns", [3, 7, 10])
def test_no_word_of_a_table_is_broken(columns: int) -> None:
    head = (
        "Number",
        "Amount",
        "Account holder",
        "Bank",
        "Reference",
        "Status",
        "Fee",
        "Requested",
        "Sent",
        "Exception",
    )
    row = (
        "CM-632N-M87S",
        "₦96,300,000.00",
        "Ọláyínká Adébáyọ̀-Williams Ventures",
        "Guaranty Trust Bank …6785",
        "po-01a22c865dd97e0e8636730a08204888",
        "processed",
        "₦25.00",
        "30 Nov 2026, 13:55",
        "30 Nov 2026, 13:56",
        "bank_details_changed",
    )
    part = PaperPart("table", (head[:columns], *[row[:columns]] * 20), frozenset({1}))
    paper = Paper("Payouts", datetime(2026, 11, 30, tzinfo=UTC), (part,), "Printed by Musa Idris")
    content = render_paper(paper)
    assert content == render_paper(paper)
    words = {word for text in pages_of(content) for word in text.split()}
    assert {word for cell in (*head[:columns], *row[:columns]) for word in cell.split() if word.isascii()} <= words


@pytest.mark.parametrize("render", [render_pdf, render_html])
def test_a_document_has_the_same_bytes_each_time(render) -> None:
    assert render(with_name(NAMES["Yoruba"])) == render(with_name(NAMES["Yoruba"]))


def test_a_page_escapes_every_text() -> None:
    page = render_html(with_name("<script>alert(1)</script>")).decode()
    assert "<script>" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2


def test_a_page_has_only_the_style_that_its_policy_names() -> None:
    page = render_html(DOCUMENT).decode()
    assert POLICY.startswith("default-src 'none'; style-src 'sha256-")
    assert page.count("<style>") == 1
    assert "style=" not in page


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        (None, "application/pdf"),
        ("", "application/pdf"),
        ("*/*", "application/pdf"),
        ("application/*", "application/pdf"),
        ("text/html", "text/html"),
        ("TEXT/HTML; charset=utf-8", "text/html"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("application/pdf;q=0.1, text/*;q=0.2", "text/html"),
        ("text/html;q=0, */*", "application/pdf"),
    ],
)
def test_the_accept_header_chooses_the_media_type(accept: str | None, media_type: str) -> None:
    assert accepted_type(accept, OFFERED) == media_type


@pytest.mark.parametrize("accept", ["application/json", "image/*", "text/html;q=0", "*/*;q=0", "text/html;q=x"])
def test_any_other_media_type_is_406(accept: str) -> None:
    with pytest.raises(NotAcceptable) as refused:
        accepted_type(accept, OFFERED)
    assert refused.value.http_status == 406


def test_a_number_names_kind_vendor_and_place() -> None:
    vendor_id = UUID("0190a0b0-0000-7000-8000-00009f21c0d4")
    assert document_number("receipt", vendor_id, 12) == "RC-9F21C0D4-000012"
    assert document_number("invoice", vendor_id, 1_234_567) == "CI-9F21C0D4-1234567"


def test_times_are_those_of_lagos() -> None:
    assert local_time(datetime(2026, 12, 31, 23, 0, tzinfo=UTC)) == "1 January 2027, 00:00"


async def test_more_waiting_requests_than_the_limit_are_503() -> None:
    renderer = DocumentRenderer(waiting_max=1)
    request = Request({"type": "http", "headers": [(b"accept", b"text/html")]})
    responses = await asyncio.gather(*(renderer.respond(request, DOCUMENT) for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in responses].count(DocumentRendererBusy) == 1
    renderer.close()
