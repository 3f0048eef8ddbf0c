"""The store of a checkout and of flash sales: what is read belongs to the named products, campus, hub, buyer and
time.
"""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.clock import iso
from common.primitives.ids import new_id
from contracts.identity import CampusChanged, HubChanged
from contracts.permissions import permissions_of
from orders.domain.checkouts import Destinations
from orders.domain.orders import NewItem, NewOrder
from orders.domain.purchases import NewPurchase
from orders.domain.quotes import NamedHub, RequestedItem
from orders.store import checkout, flash_sales
from orders.store.checkout import CheckoutFacts, IdempotencyRecord

from .conftest import Market
from .purchase_steps import bought, two_products
from .steps import change_profile, created_sale, proposed_sale


async def facts(
    market: Market, *product_ids: UUID, key: UUID | None = None, of_purchase: bool = False, **where: Any
) -> CheckoutFacts:
    own: dict[str, Any] = {"buyer_id": market.buyer_id, "key": key or uuid4(), "now": market.clock.now()}
    async with market.unit_of_work() as uow:
        items = [RequestedItem(product_id, 1) for product_id in product_ids]
        return await checkout.read_for_checkout(uow, items, Destinations(**where), of_purchase=of_purchase, **own)


async def test_only_listed_products_are_offered(market: Market) -> None:
    now = market.clock.now()
    product = await market.sell(price_minor=700, stock=3)
    draft, removed = await market.sell(draft=True), await market.sell(removed_at=now)
    found = await facts(market, product, draft, removed, new_id())
    assert set(found.offers) == {product}
    offer = found.offers[product]
    assert (offer.price_minor, offer.stock, offer.sale) == (700, 3, None)
    # The previous version reads the view by its old name during an upgrade (decision 109).
    for view in ("listed_products", "shelf"):
        assert [row["id"] for row in await market.fetch(f"SELECT id FROM {view}")] == [product]


async def test_the_buyers_name_is_that_of_the_caller(market: Market) -> None:
    product = await market.sell()
    await change_profile(market, new_id(), "Yetunde Bello", "+2348030000002")
    assert (await facts(market, product)).buyer_name is None
    await change_profile(market, market.buyer_id, "Ada Ngozi Obi", "+2348030000001")
    assert (await facts(market, product)).buyer_name is not None


async def test_a_destination_is_the_named_campus_and_an_open_hub_of_an_open_campus(market: Market) -> None:
    product = await market.sell()
    opened, closed, elsewhere = new_id(), new_id(), new_id()
    for campus, active in ((opened, True), (closed, False)):
        await market.receive(CampusChanged(campus_id=campus, name="Ibadan", active=active))
    hubs: dict[str, UUID] = {}
    for name, campus, active in (("open", opened, True), ("closed", opened, False),
    ("of a closed campus", closed, True),
                                 ("of an unknown campus", elsewhere, True)):  # fmt: skip
        hubs[name] = new_id()
        event = HubChanged(hub_id=hubs[name], campus_id=campus, name=name, delivery_fee_minor=5, active=active)
        await market.receive(event)
    known = {campus: (await facts(market, product,
    campus_id=campus)).destinations[market.vendor_id].campus_known for campus in
             (opened, closed, elsewhere)}  # fmt: skip
    assert known == {opened: True, closed: False, elsewhere: False}
    found = {
        name: (await facts(market, product, hub=NamedHub(hub))).destinations[market.vendor_id].hub
        for name, hub in hubs.items()
    }
    assert {name: None if hub is None else hub.campus_id for name, hub in found.items()} == {
        "open": opened, "closed": None, "of a closed campus": None, "of an unknown campus": elsewhere,
    }  # fmt: skip
    assert (await facts(market, product, hub=NamedHub(new_id()))).destinations[market.vendor_id].hub is None


async def test_a_sale_counts_what_the_buyer_has_of_it(market: Market) -> None:
    product, another = await market.sell(price_minor=1_000, stock=100), await market.sell(price_minor=1_000, stock=100)
    sale = await created_sale(market, product, quantity=20, perBuyerLimit=9)
    await created_sale(market, another, quantity=20, perBuyerLimit=9)
    await market.ordered(product, 2)
    await market.ordered(another, 3)
    await market.ordered(product, 4, buyer_id=new_id())
    returned = await market.ordered(product, 1)
    assert (await market.post(returned, "cancel", market.as_buyer(), {"reason": "no"})).status_code == 200
    running = (await facts(market, product)).offers[product].sale
    assert running is not None
    assert (str(running.id), running.price_minor, running.remaining) == (sale["id"], 600, 20 - 2 - 4)
    assert (running.per_buyer_limit, running.bought) == (9, 2)


async def test_only_an_approved_sale_runs_and_only_in_its_time(market: Market) -> None:
    now = market.clock.now()
    prepared = await market.sell(price_minor=1_000, stock=100)
    await proposed_sale(market, prepared)
    product = await market.sell(price_minor=1_000, stock=100)
    starts_at, ends_at = now + timedelta(minutes=1), now + timedelta(minutes=2)
    await created_sale(market, product, startsAt=iso(starts_at), endsAt=iso(ends_at))
    moment = timedelta(milliseconds=1)
    for at, runs in ((starts_at - moment, False), (starts_at, True), (ends_at - moment, True), (ends_at, False)):
        market.clock.advance(at - market.clock.now())
        found = await facts(market, product, prepared)
        assert (found.offers[product].sale is not None, found.offers[prepared].sale) == (runs, None), at


async def test_a_key_is_bound_to_an_order_of_its_buyer(market: Market) -> None:
    key = uuid4()
    product = await market.sell()
    theirs = await market.ordered(product, key=key, buyer_id=new_id())
    assert (await facts(market, product, key=key)).earlier is None
    own = await market.ordered(product, key=key)
    assert (await facts(market, product)).earlier is None
    earlier = (await facts(market, product, key=key)).earlier
    assert earlier is not None
    assert str(earlier.id) == own["id"] != theirs["id"]
    async with market.unit_of_work() as uow:
        assert await checkout.find_by_key(uow, market.buyer_id, key, of_purchase=False) == earlier
        assert isinstance(earlier, IdempotencyRecord)
        assert await checkout.find_by_key(uow, market.buyer_id, uuid4(), of_purchase=False) is None
        assert await checkout.find_by_key(uow, new_id(), key, of_purchase=False) is None


async def test_a_key_is_bound_to_a_purchase_of_its_buyer(market: Market) -> None:
    key, chosen = uuid4(), await two_products(market)
    theirs = await bought(market, *chosen, key=key, buyer_id=new_id())
    assert (await facts(market, *chosen, key=key, of_purchase=True)).earlier is None
    own, _ = await bought(market, *chosen, key=key), await bought(market, *chosen)
    assert (await facts(market, *chosen, of_purchase=True)).earlier is None
    earlier = (await facts(market, *chosen, key=key, of_purchase=True)).earlier
    assert earlier is not None
    assert str(earlier.id) == own["id"] != theirs["id"]
    async with market.unit_of_work() as uow:
        assert await checkout.find_by_key(uow, market.buyer_id, key, of_purchase=True) == earlier
        assert await checkout.find_by_key(uow, market.buyer_id, uuid4(), of_purchase=True) is None
        assert await checkout.find_by_key(uow, new_id(), key, of_purchase=True) is None


async def test_a_removed_product_has_no_sale(market: Market) -> None:
    listed, removed = await market.sell(), await market.sell(removed_at=market.clock.now())
    async with market.unit_of_work() as uow:
        product = await flash_sales.find_product(uow, listed, None)
        assert product is not None
        assert (product.id, product.vendor_id, product.price_minor, product.stock) == (
            listed,
            market.vendor_id,
            150_000,
            10,
        )
        assert await flash_sales.find_product(uow, removed, None) is None


async def test_other_sales_of_a_product_are_approved_and_not_over(market: Market) -> None:
    now = market.clock.now()
    product, another = await market.sell(price_minor=1_000, stock=100), await market.sell(price_minor=1_000, stock=100)
    ends_at = now + timedelta(minutes=2)
    times = {"startsAt": iso(now), "endsAt": iso(ends_at)}
    await proposed_sale(market, product, **times)
    own, theirs = await created_sale(market, product, **times), await created_sale(market, another, **times)
    moment = timedelta(milliseconds=1)

    async def rows() -> dict[str, Any]:
        return {str(row["id"]): tuple(row) for row in await market.fetch("SELECT * FROM flash_sales")}

    async with market.unit_of_work() as uow:
        others = flash_sales.list_other_sales
        assert await others(uow, product, None, ends_at - moment) == [(now, ends_at)]
        assert await others(uow, product, None, ends_at) == []
        assert await others(uow, new_id(), None, now) == []
    before = await rows()
    async with market.unit_of_work() as uow:
        # One that is over ends when it ended, and a consent is given once.
        await flash_sales.close_sale(uow, UUID(own["id"]), ends_at + moment)
        await flash_sales.save_consent(uow, UUID(own["id"]), new_id(), now + moment)
    assert await rows() == before
    async with market.unit_of_work() as uow:
        await flash_sales.close_sale(uow, UUID(own["id"]), ends_at - moment)
    after = await rows()
    assert [sale_id for sale_id in before if after[sale_id] != before[sale_id]] == [own["id"]]
    assert theirs["id"] in after


async def test_a_purchase_with_a_used_key_or_number_has_no_order(market: Market) -> None:
    now, product = market.clock.now(), await market.sell(price_minor=500, stock=9)

    async def save(number: str, key: UUID) -> checkout.Placed:
        order = NewOrder(
            new_id(), f"CM-{number}", market.buyer_id, market.vendor_id, market.campus_id, None, 500, 500, 0, 0, None,
            now + timedelta(minutes=15), now, now, [NewItem(new_id(), product, "Rice", 1, 500, 500)], (None,), (None,),
        )  # fmt: skip
        new = NewPurchase(new_id(), "CP-0000-0001", market.buyer_id, now)
        prices = {(product, None): 500}
        buyer = Caller(user_id=market.buyer_id, permissions=permissions_of(["buyer"]))
        async with market.database.unit_of_work(acting_as=buyer) as uow:
            return await checkout.save_new_orders(uow, [order], new, prices, key=key, fingerprint=b"x", event=None)

    key = uuid4()
    assert (await save("0000-0001", key)).placed
    for number, again in (("0000-0002", key), ("0000-0003", uuid4())):
        assert await save(number, again) == (False, 1, {})
    assert await market.stock_of(product) == 8
    assert len(await market.fetch("SELECT FROM orders")) == 1


async def test_an_order_is_saved_once_for_its_key_and_its_number(market: Market) -> None:
    now = market.clock.now()
    product, further = await market.sell(price_minor=500, stock=2), await market.sell(price_minor=100, stock=9)

    def order(number: str) -> NewOrder:
        items = [
            NewItem(new_id(), one, "Rice", quantity, price_minor, quantity * price_minor)
            for one, quantity, price_minor in ((product, 2, 500), (further, 1, 100))
        ]
        return NewOrder(
            new_id(), number, market.buyer_id, market.vendor_id, market.campus_id, None, 1_100, 1_100, 0, 0, None,
            now + timedelta(minutes=15), now, now, items, (None,), (None,),
        )  # fmt: skip

    async def save(uow: UnitOfWork, placed: NewOrder, price_minor: int, key: UUID) -> checkout.Placed:
        prices = {(product, None): price_minor, (further, None): 100}
        return await checkout.save_new_orders(uow, [placed], None, prices, key=key, fingerprint=b"x", event=None)

    buyer = Caller(user_id=market.buyer_id, permissions=permissions_of(["buyer"]))
    database = market.database
    first, key = order("CM-0000-0001"), uuid4()
    assert (first.status, first.currency, first.refunded_minor, first.revision) == ("Processing", "NGN", 0, 1)
    async with database.unit_of_work(acting_as=buyer) as uow:
        # All units are reserved, at the regular prices, or none: one price has changed since.
        placed = await save(uow, order("CM-0000-0000"), 501, uuid4())
        assert (placed.placed, placed.reserved) == (True, {})
    async with database.unit_of_work(acting_as=buyer) as uow:
        placed = await save(uow, first, 500, key)
        # The unpaid order of the attempt before counts, and its pieces of a product whose price changed.
        assert placed == (True, 1, {product: (0, 2), further: (8, 1)})
        for again, with_key in ((order("CM-0000-0002"), key), (order("CM-0000-0001"), uuid4())):
            placed = await save(uow, again, 500, with_key)
            assert (placed.placed, placed.reserved) == (False, {})
        found = await checkout.find_by_key(uow, market.buyer_id, key, of_purchase=False)
        assert found == IdempotencyRecord(first.id, b"x")
    assert [await market.stock_of(one) for one in (product, further)] == [0, 8]
