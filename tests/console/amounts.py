"""Amounts as a person reads them on a page, compared with the API."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from console.formats import naira
from tests.console.browser import Visitor

_AMOUNT: Final = re.compile(r"(-?)₦([0-9,]+)\.([0-9]{2})(?![0-9])")
_DAMAGED: Final = r"""() => {
  const found = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility()) continue;
    for (const match of node.data.matchAll(/-?₦[0-9,]+\.[0-9]{2}/g)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const boxes = [...range.getClientRects()];
      const right = Math.max(...boxes.map((box) => box.right));
      if (new Set(boxes.map((box) => Math.round(box.top))).size > 1) found.push(`${match[0]} is broken`);
      const clips = (one) => one && (getComputedStyle(one).overflowX !== "visible" ? one : clips(one.parentElement));
      const frame = clips(node.parentElement);
      if (right > (frame ? frame.getBoundingClientRect().right : innerWidth) + 1) found.push(`${match[0]} is cut`);
    }
  }
  return found;
}"""


async def amounts_on(one: Visitor) -> list[int]:
    """Return the amounts of the page's main part in kobo, in the order of the page."""
    return [_kobo(found) for found in _AMOUNT.finditer(await one.text())]


def _kobo(found: re.Match[str]) -> int:
    amount_minor = int(found[2].replace(",", "")) * 100 + int(found[3])
    return -amount_minor if found[1] else amount_minor


def amounts_of(*resources: Any) -> set[int]:
    """Return every amount of responses of the API in kobo: fields whose names end with `Minor`, and naira in texts."""
    return {amount for resource in resources for amount in _amounts(resource)}


def _amounts(resource: Any) -> Iterator[int]:
    if isinstance(resource, Mapping):
        for name, value in resource.items():
            if name.endswith("Minor") and isinstance(value, int):
                yield value
            else:
                yield from _amounts(value)
    elif isinstance(resource, str):
        yield from map(_kobo, _AMOUNT.finditer(resource))
    elif isinstance(resource, Sequence):
        for value in resource:
            yield from _amounts(value)


def balances_around(entries: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return the balances before and after each entry of a posting."""
    return {entry["balanceMinor"] + change for entry in entries for change in (0, entry["amountMinor"])}


async def check_amounts(one: Visitor, *resources: Any, sums: Collection[int] = ()) -> None:
    """Check that the page shows amounts, each of them a field of the resources or one of `sums`, in one piece at 1280
    and 360 px.

    A debit, a deduction and a balance may be shown with the other sign.
    """
    shown, known = await amounts_on(one), amounts_of(*resources) | set(sums)
    assert shown, f"{one.page.url} shows no amount"
    unknown = [naira(amount) for amount in shown if amount not in known and -amount not in known]
    assert unknown == [], f"{one.page.url} shows amounts that the API does not have: {unknown}"
    await check_whole_amounts(one)


async def check_whole_amounts(one: Visitor) -> None:
    """Check that no amount is cut, hidden or broken into two lines at 1280 and 360 px."""
    for width in (360, 1280):
        await one.page.set_viewport_size({"width": width, "height": 900})
        assert await one.page.evaluate(_DAMAGED) == [], f"{one.page.url} at {width} px"


async def check_row(one: Visitor, name: str, *texts: str) -> None:
    """Check that the row with this name or number shows each of the texts."""
    row = await one.page.get_by_role("row").filter(has_text=name).first.inner_text()
    assert [text for text in texts if text not in row] == [], row
