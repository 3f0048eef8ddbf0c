"""A page of the console as a PDF."""

from datetime import UTC, datetime

import pytest

from common.documents.document import PAPER_CELLS_MAX, PaperPart
from common.documents.pdf_file import render_paper
from common.documents.rendering import DocumentRenderer, PaperTooLong
from console.papers import paper_of

NOW = datetime(2026, 11, 29, 13, 5, tzinfo=UTC)
PAGE = """<!doctype html><html><body><header><p>Campus console</p></header><nav><p>Menu</p></nav><main>
<h1>Batch PB-1 <span class="badge good">sent</span></h1>
<p class="copy"><button>Copy the id</button></p>
<dl class="facts"><div><dt>Total</dt><dd>₦1,250.00</dd></div><div><dt>Sent by</dt><dd>Adé Ọlá</dd></div></dl>
<p><a href="/o">Its order</a> <a href="/t">Its transactions</a></p>
<h2>Transfers</h2>
<div class="scroll"><table><thead><tr><th>Vendor</th><th class="number">Amount</th></tr></thead>
<tbody><tr><td><a href="/v">Ngọzi &amp; Sons</a></td><td class="number">₦1,250.00</td></tr></tbody></table></div>
<details class="confirm"><summary>Approve</summary><form><p>Not printed</p></form></details>
<form><p>Nor this</p></form>
<ol class="timeline"><li><time>1 Dec</time> Paid</li></ol>
</main><p>After it</p></body></html>"""


def test_a_paper_has_the_texts_of_its_page_without_the_forms() -> None:
    paper = paper_of(PAGE, "Made by a test", NOW)
    assert (paper.title, paper.note) == ("Batch PB-1 sent", "Made by a test")
    assert paper.parts == (
        PaperPart("facts", (("Total", "₦1,250.00"), ("Sent by", "Adé Ọlá"))),
        PaperPart("heading", (("Transfers",),)),
        PaperPart("table", (("Vendor", "Amount"), ("Ngọzi & Sons", "₦1,250.00")), frozenset({1})),
        PaperPart("text", (("1 Dec Paid",),)),
    )


def test_a_paper_is_the_same_file_each_time_and_holds_every_script() -> None:
    page = PAGE.replace("Adé Ọlá", "Adé Ọlá, 王小明, محمد, አበበ")
    first, second = (render_paper(paper_of(page, "Made by a test", NOW)) for _ in range(2))
    assert first.startswith(b"%PDF-")
    assert first == second


async def test_a_paper_has_a_limit() -> None:
    rows = "<tr><td>a</td><td>b</td></tr>" * (PAPER_CELLS_MAX // 2 + 1)
    renderer = DocumentRenderer()
    with pytest.raises(PaperTooLong):
        await renderer.respond_paper(paper_of(f"<main><h1>Long</h1><table>{rows}</table></main>", "", NOW), "long")
    renderer.close()
