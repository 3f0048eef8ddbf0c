import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.primitives.ids import new_id
from common.primitives.money import AMOUNT_MINOR_MAX
from orders.domain.errors import (
    MultipleVendors,
    OutOfStock,
    PriceChanged,
    RepeatedProduct,
    UnknownCampus,
    UnknownHub,
    UnknownProduct,
    VendorSuspended,
)
from orders.domain.flash_sales import RunningSale
from orders.domain.quotes import Destination, Hub, NamedHub, Offer, QuotedLine, RequestedItem, quote

VENDOR, CAMPUS, OTHER_CAMPUS, PRODUCT, HUB = (new_id() for _ in range(5))
ANYWHERE = Destination(campus_id=None, campus_known=False, requested_hub=None, hub=None)


def offer(price_minor=100_000, stock=10, vendor_id=VENDOR, commission=None, **facts):
    return Offer(vendor_id, CAMPUS, "Jollof Rice", price_minor, stock, commission, **facts)


def to(**known):
    return Destination(
        **{"campus_id": None, "campus_known": False, "requested_hub": None, "hub": None, **known},
    )


@given(
    lines=st.lists(st.tuples(st.integers(1, AMOUNT_MINOR_MAX), st.integers(1, 99)), min_size=1, max_size=50),
    fee=st.integers(0, AMOUNT_MINOR_MAX),
    commission=st.none() | st.integers(0, 10_000),
)
def test_a_quote_adds_up_and_its_commission_is_within_the_subtotal(lines, fee, commission) -> None:
    requested_items = [RequestedItem(new_id(), quantity) for _, quantity in lines]
    offers = {
        requested_item.product_id: offer(price, stock=99, commission=commission)
        for requested_item, (price, _) in zip(requested_items, lines, strict=True)
    }
    quoted = quote(requested_items, offers, to(requested_hub=NamedHub(HUB), hub=Hub(CAMPUS, fee)), None)
    assert quoted.subtotal_minor == sum(price * quantity for price, quantity in lines)
    assert quoted.total_minor == quoted.subtotal_minor + fee
    assert 0 <= quoted.commission_minor <= quoted.subtotal_minor
    assert quoted.total_minor < 2**63


@pytest.mark.parametrize(
    ("commission", "price", "expected"),
    [(None, 100_000, 5_000), (0, 100_000, 0), (750, 100_020, 7_502), (500, 110, 6), (500, 90, 4), (500, 130, 6)],
)
def test_commission_is_the_vendors_share_or_five_percent_half_to_even(
    commission: int | None, price: int, expected: int
) -> None:
    offers = {PRODUCT: offer(price, commission=commission)}
    assert quote([RequestedItem(PRODUCT, 1)], offers, ANYWHERE, None).commission_minor == expected


@pytest.mark.parametrize(
    ("destination", "campus"),
    [
        (to(), CAMPUS),
        (to(campus_id=CAMPUS), CAMPUS),
        (to(campus_id=OTHER_CAMPUS, campus_known=True), OTHER_CAMPUS),
        (to(requested_hub=NamedHub(HUB), hub=Hub(OTHER_CAMPUS, 0)), OTHER_CAMPUS),
        (to(campus_id=OTHER_CAMPUS, requested_hub=NamedHub(HUB), hub=Hub(OTHER_CAMPUS, 0)), OTHER_CAMPUS),
    ],
)
def test_the_campus_is_the_hubs_else_the_requested_else_the_vendors(destination, campus) -> None:
    assert quote([RequestedItem(PRODUCT, 1)], {PRODUCT: offer()}, destination, None).campus_id == campus


@pytest.mark.parametrize(
    ("destination", "error"),
    [
        (to(campus_id=OTHER_CAMPUS), UnknownCampus),
        (to(requested_hub=NamedHub(HUB)), UnknownHub),
        (to(campus_id=CAMPUS, requested_hub=NamedHub(HUB), hub=Hub(OTHER_CAMPUS, 0)), UnknownHub),
    ],
)
def test_a_destination_that_is_not_known_or_contradicts_itself_is_refused(destination, error) -> None:
    with pytest.raises(error):
        quote([RequestedItem(PRODUCT, 1)], {PRODUCT: offer()}, destination, None)


@pytest.mark.parametrize(
    ("requested_items", "expected_total", "error"),
    [
        ([RequestedItem(PRODUCT, 1), RequestedItem(PRODUCT, 2)], None, RepeatedProduct),
        ([RequestedItem(PRODUCT, 1), RequestedItem(HUB, 1)], None, UnknownProduct),
        ([RequestedItem(PRODUCT, 1), RequestedItem(CAMPUS, 1)], None, MultipleVendors),
        ([RequestedItem(PRODUCT, 11)], None, OutOfStock),
        ([RequestedItem(PRODUCT, 1)], 100_001, PriceChanged),
        ([RequestedItem(PRODUCT, 11)], 1, PriceChanged),
    ],
)
def test_what_cannot_be_sold_is_refused_by_name(requested_items, expected_total: int | None, error) -> None:
    offers = {PRODUCT: offer(), CAMPUS: offer(vendor_id=new_id())}
    with pytest.raises(error):
        quote(requested_items, offers, ANYWHERE, expected_total)


@pytest.mark.parametrize(
    ("destination", "total"),
    [
        (ANYWHERE, 200_002),
        (to(requested_hub=NamedHub(HUB), hub=Hub(CAMPUS, 0)), 200_002),
        (to(requested_hub=NamedHub(HUB), hub=Hub(CAMPUS, 301)), 200_303),
    ],
)
def test_the_total_is_the_lines_and_the_fee_of_the_hub(destination, total: int) -> None:
    quoted = quote([RequestedItem(PRODUCT, 2)], {PRODUCT: offer(100_001)}, destination, total)
    assert (quoted.total_minor, quoted.hub_id) == (total, destination.hub_id)
    # 5 % of 200,002 is 10,000.1: the fee has no commission.
    assert quoted.commission_minor == 10_000


def test_a_suspended_vendor_sells_nothing() -> None:
    with pytest.raises(VendorSuspended):
        quote([RequestedItem(PRODUCT, 1)], {PRODUCT: offer(vendor_suspended=True)}, ANYWHERE, None)


def test_the_whole_stock_may_be_ordered() -> None:
    assert quote([RequestedItem(PRODUCT, 10)], {PRODUCT: offer(stock=10)}, ANYWHERE, None).lines[0].quantity == 10


def test_a_flash_sale_line_has_the_sale_price_and_names_sale_and_regular_price() -> None:
    sale = RunningSale(new_id(), price_minor=80_010, remaining=2, per_buyer_limit=2, bought=0)
    offers = {PRODUCT: offer(sale=sale), CAMPUS: offer(price_minor=50_000)}
    quoted = quote([RequestedItem(PRODUCT, 2), RequestedItem(CAMPUS, 1)], offers, ANYWHERE, 210_020)
    assert quoted.lines == (
        QuotedLine(PRODUCT, "Jollof Rice", 2, 80_010, 100_000, sale.id),
        QuotedLine(CAMPUS, "Jollof Rice", 1, 50_000, 50_000, None),
    )
    assert quoted.commission_minor == 10_501


@pytest.mark.parametrize(
    ("requested_items", "error_class", "names"),
    [
        ([RequestedItem(PRODUCT, 1), RequestedItem(HUB, 1)], UnknownProduct, ["items.1.productId"]),
        ([RequestedItem(PRODUCT, 1), RequestedItem(CAMPUS, 11)], OutOfStock, ["items.1.quantity"]),
    ],
)
def test_an_error_of_a_product_names_its_position(requested_items, error_class, names: list[str]) -> None:
    with pytest.raises(error_class) as error:
        quote(requested_items, {PRODUCT: offer(), CAMPUS: offer()}, ANYWHERE, None)
    assert [param.name for param in error.value.invalid_params] == names


def test_a_changed_total_is_returned_to_the_buyer() -> None:
    with pytest.raises(PriceChanged) as error:
        quote([RequestedItem(PRODUCT, 3)], {PRODUCT: offer(33_333)}, ANYWHERE, 99_998)
    assert error.value.extensions == {"totalMinor": 99_999}
