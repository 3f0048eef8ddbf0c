"""The search of every page: the list with all matches, where one page of the API is not all."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from console.pages.everyone.home import Match, _full_list


@pytest.mark.parametrize(
    ("permission", "path", "address"),
    [
        ("orders:read", "/orders/1", "/campus-orders?q=ada%40unilag.edu.ng"),
        ("charged_orders:read", "/orders/1", ""),
        ("payouts:read", "/payouts/1", "/payouts?vendorName=ada%40unilag.edu.ng"),
    ],
)
def test_a_full_page_of_matches_links_the_list_of_the_role(permission: str, path: str, address: str) -> None:
    visit = cast("Any", SimpleNamespace(may=lambda *needed: permission in needed))
    first = Match(path, "CM-0000-0000", "paid", 100, (), "2026-11-30T12:00:00.000Z")
    assert _full_list(visit, "ada@unilag.edu.ng", first) == address


def test_all_payouts_of_a_beginning_are_listed_by_number() -> None:
    first = Match("/payouts/1", "PO-7QZ2-0000", "paid", 100, (), "2026-11-30T12:00:00.000Z")
    assert _full_list(cast("Any", None), "PO-7QZ2", first) == "/payouts?number=PO-7QZ2"
