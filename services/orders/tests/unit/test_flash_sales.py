"""Flash sales: the terms that a vendor may set, and a buyer's unit price (contract section 11.2). Amounts in kobo."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from common.primitives.ids import new_id
from orders.domain.errors import FlashSaleLimitReached, FlashSaleOverlaps, FlashSaleSoldOut, InvalidFlashSale
from orders.domain.flash_sales import FlashSale, RunningSale, SaleTerms, check_terms, sale_price

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
SECOND, HOUR, DAY = timedelta(seconds=1), timedelta(hours=1), timedelta(days=1)
TERMS = SaleTerms(
    product_id=new_id(),
    price_minor=79_999,
    quantity=20,
    per_buyer_limit=2,
    starts_at=NOW + HOUR,
    ends_at=NOW + 3 * HOUR,
)


def check(others=(), **changed):
    check_terms(replace(TERMS, **changed), regular_price_minor=80_000, stock=20, others=others, now=NOW)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"price_minor": 1},
        {"quantity": 2},
        {"per_buyer_limit": 20},
        {"starts_at": NOW - DAY, "ends_at": NOW + SECOND},
        {"ends_at": NOW + HOUR + SECOND},
        {"ends_at": NOW + HOUR + 30 * DAY},
        {"starts_at": NOW + 90 * DAY, "ends_at": NOW + 91 * DAY},
    ],
)
def test_terms_within_each_limit_are_valid(changed) -> None:
    check(**changed)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"price_minor": 80_000}, {"priceMinor": "must be below the product's price"}),
        ({"price_minor": 80_001}, {"priceMinor": "must be below the product's price"}),
        ({"quantity": 21}, {"quantity": "is more than the product's stock"}),
        ({"per_buyer_limit": 21}, {"perBuyerLimit": "is more than the sale's quantity"}),
        ({"starts_at": NOW - DAY, "ends_at": NOW}, {"endsAt": "is in the past"}),
        ({"ends_at": NOW + HOUR}, {"endsAt": "must be after startsAt"}),
        ({"ends_at": NOW + SECOND}, {"endsAt": "must be after startsAt"}),
        ({"ends_at": NOW + HOUR + 30 * DAY + SECOND}, {"endsAt": "must be within 30 days of startsAt"}),
        (
            {"starts_at": NOW + 90 * DAY + SECOND, "ends_at": NOW + 91 * DAY},
            {"startsAt": "must be within 90 days"},
        ),
        (
            {"price_minor": 80_000, "quantity": 21},
            {"priceMinor": "must be below the product's price", "quantity": "is more than the product's stock"},
        ),
    ],
)
def test_terms_beyond_a_limit_name_each_fault(changed, expected: dict[str, str]) -> None:
    with pytest.raises(InvalidFlashSale) as error:
        check(**changed)
    assert {param.name: param.reason for param in error.value.invalid_params} == expected


@pytest.mark.parametrize(
    "other",
    [
        (NOW + HOUR, NOW + 3 * HOUR),
        (NOW, NOW + HOUR + SECOND),
        (NOW + 3 * HOUR - SECOND, NOW + 4 * HOUR),
        (NOW + 2 * HOUR, NOW + 2 * HOUR + SECOND),
        (NOW, NOW + 4 * HOUR),
    ],
)
def test_two_sales_of_a_product_never_overlap(other) -> None:
    with pytest.raises(FlashSaleOverlaps):
        check(others=[other])


def test_a_sale_starts_when_the_previous_one_ends() -> None:
    check(others=[(NOW, NOW + HOUR), (NOW + 3 * HOUR, NOW + 4 * HOUR), (NOW + DAY, NOW + 2 * DAY)])


def test_the_hash_of_a_sale_covers_each_term_that_the_vendor_approves() -> None:
    sale = FlashSale(new_id(), new_id(), new_id(), TERMS, new_id(), approved=False)
    changed_terms = [
        {"product_id": new_id()},
        {"price_minor": 79_998},
        {"quantity": 19},
        {"per_buyer_limit": 3},
        {"starts_at": NOW},
        {"ends_at": NOW + 4 * HOUR},
    ]
    others = [
        *(replace(sale, terms=replace(TERMS, **changed)) for changed in changed_terms),
        replace(sale, id=new_id()),
        replace(sale, vendor_id=new_id()),
        replace(sale, created_by=new_id()),
    ]
    assert len({sale.hash, *(other.hash for other in others)}) == 10
    assert replace(sale, approved=True).hash == sale.hash


RUNNING = RunningSale(new_id(), price_minor=75_001, remaining=5, per_buyer_limit=3, bought=0)


@pytest.mark.parametrize(
    ("changed", "quantity", "price"),
    [
        ({}, 1, 75_001),
        ({}, 3, 75_001),
        ({"bought": 2}, 1, 75_001),
        ({"remaining": 3}, 3, 75_001),
        ({"price_minor": 80_001}, 1, 80_000),
    ],
)
def test_a_buyer_pays_the_sale_price_to_the_limit_never_more_than_the_regular_one(
    changed, quantity: int, price: int
) -> None:
    assert sale_price(replace(RUNNING, **changed), quantity, 80_000, position=0) == price


@pytest.mark.parametrize(
    ("changed", "quantity", "error"),
    [
        ({}, 4, FlashSaleLimitReached),
        ({"bought": 2}, 2, FlashSaleLimitReached),
        ({"bought": 3}, 1, FlashSaleLimitReached),
        ({"remaining": 2}, 3, FlashSaleSoldOut),
        ({"remaining": 0}, 1, FlashSaleSoldOut),
    ],
)
def test_a_quantity_beyond_the_sale_is_rejected_and_never_sold_at_the_regular_price(
    changed, quantity: int, error
) -> None:
    with pytest.raises(error):
        sale_price(replace(RUNNING, **changed), quantity, 80_000, position=0)
