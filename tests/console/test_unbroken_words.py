"""Words of machines and dates on narrow pages: they break where a reader expects it, on paper too."""

import pytest

from operations.journey import Marketplace
from tests.console.browser import NARROW, WIDE, short_reference
from tests.console.conftest import Arrival
from tests.console.decisions import short_charge
from tests.end_to_end.conftest import Users
from tests.end_to_end.steps import paid_order

PAPER = {"width": 720, "height": 1000}
"""An upright sheet of A4 between its margins, in pixels."""
BROKEN_PIECES = r"""(pairs) => pairs.flatMap(([where, pieces]) => {
  const found = [];
  for (const one of document.querySelectorAll(where)) {
    if (!one.checkVisibility()) continue;
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      for (const match of node.data.matchAll(new RegExp(pieces, "g"))) {
        const range = document.createRange();
        range.setStart(node, match.index);
        range.setEnd(node, match.index + match[0].length);
        const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
        if (lines.size > 1) found.push(`${match[0]} in ${one.textContent}`);
      }
    }
  }
  return found;
})"""
WHOLE = [["main .identifier", r"[^_./@,\-]+"], ["main time", r"[^,\s][^,]*"]]
"""The pieces of an identifier, and the date and the hour of an instant."""


SPLIT_CELLS = """[...document.querySelectorAll("main .phone td")].filter((one) => one.firstElementChild
    && [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim()))
    .map((one) => one.textContent)"""
"""Cells of cards whose text stands apart from what follows it."""


@pytest.mark.parametrize(
    ("role", "path"),
    [
        ("admin", "/settings"),
        ("admin", "/quotas"),
        ("ops", "/system-health"),
        ("ops", "/runbooks/quarantined-charge"),
        ("admin", "/staff"),
        ("maker", "/payouts"),
        ("campus", "/campus-orders"),
    ],
)
async def test_no_identifier_and_no_date_breaks_inside_a_word(visitor: Arrival, role: str, path: str) -> None:
    one = await visitor(role)
    await one.open(path)
    for size in (WIDE, NARROW):
        await one.page.set_viewport_size(size)  # type: ignore[arg-type]
        assert await one.page.evaluate(BROKEN_PIECES, WHOLE) == []
        await one.check_width()
    assert await one.page.evaluate(SPLIT_CELLS) == []


async def test_no_date_of_a_printed_list_of_orders_breaks(visitor: Arrival, market: Marketplace, users: Users) -> None:
    await paid_order(market, users)
    one = await visitor("campus")
    await one.open("/campus-orders")
    await one.page.set_viewport_size(PAPER)  # type: ignore[arg-type]
    await one.page.emulate_media(media="print")
    assert await one.page.locator("main td time").count() > 0
    assert await one.page.evaluate(BROKEN_PIECES, WHOLE) == []


async def test_a_reference_of_the_gateway_is_short_and_copied_by_one_click(
    visitor: Arrival, market: Marketplace, users: Users
) -> None:
    charge = await short_charge(market, users)
    reference = charge["reference"]
    one = await visitor("checker")
    await one.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for path in ("/quarantined-charges", "/alerts", f"/quarantined-charges/{charge['id']}"):
        await one.open(path)
        assert short_reference(reference) in await one.text(), path
        assert reference not in await one.text(), path
        await one.check_page()
    await one.page.locator(f"button[data-copy='{reference}']").click()
    assert await one.page.evaluate("navigator.clipboard.readText()") == reference
    await one.page.emulate_media(media="print")
    assert reference in await one.text()
