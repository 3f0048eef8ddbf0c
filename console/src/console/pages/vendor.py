"""A vendor's shop on a phone: orders and their delivery PIN, products, flash sales, reviews, sales."""

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from starlette.responses import Response

from common.primitives.clock import SystemClock
from console.api import ApiProblem, Json
from console.charts import bar_chart
from console.families import Family
from console.formats import LAGOS, lagos, naira
from console.lists import Column, Filter, ListView, choices, load_list, show_list
from console.visit import Form, InvalidField, Visit

FAMILY = Family("Shop", order=30)

# ---- Orders ----------------------------------------------------------------------------------------------------------

VENDOR: Final = ("orders:fulfil",)
DELIVERS: Final = ("orders:fulfil", "orders:verify")
"""The vendor, and the agents of the hub where its goods are handed out."""
TODAY_ORDERS_MAX: Final = 50


def items_of(order: Json) -> str:
    return ", ".join(f"{item['quantity']} \N{MULTIPLICATION SIGN} {item['name']}" for item in order["items"])


def share_of(order: Json) -> int | None:
    """The vendor's part of the order in kobo: the subtotal less the commission. None where it is not shown."""
    commission = order.get("commissionMinor")
    return None if commission is None else int(order["subtotalMinor"]) - int(commission)


ORDERS = ListView(
    "/api/orders",
    columns=(
        Column("Order", "number", link="/orders/{id}/fulfil"),
        Column("Status", "status", "badge"),
        Column("Buyer", "buyerName"),
        Column("Items", items_of),
        Column("Total", "totalMinor", "naira"),
        Column("Your share", share_of, "naira"),
        Column("Placed", "createdAt", "time"),
    ),
    filters=(
        Filter("q", "Number or item", kind="search"),
        Filter(
            "status",
            "Status",
            choices(
                "Processing",
                "paid_escrow",
                "dispatched",
                "delivered",
                "paid",
                "disputed",
                "refund_pending",
                "refunded",
                "cancelled",
                "expired",
            ),
        ),
        Filter("from", "From", kind="date"),
        Filter("to", "Before", kind="date"),
    ),
    empty="No order yet. Orders appear here when a buyer checks out one of your products.",
    fixed={"as": "vendor"},
)
HUB_ORDERS = ListView(
    "/api/orders",
    columns=tuple(column for column in ORDERS.columns if column.label not in ("Total", "Your share")),
    filters=ORDERS.filters,
    empty="No order is on its way to your hub.",
    fixed={"as": "hub"},
)


@FAMILY.page("/today", title="Today", any_of=VENDOR, menu="Today")
async def today_page(visit: Visit) -> Response:
    """What is to hand over, what is under way, and the day's sales. The page reloads that part by itself."""
    today = SystemClock().now().astimezone(LAGOS).date().isoformat()
    waiting, under_way, disputed, sales = await asyncio.gather(
        _orders(visit, "paid_escrow"),
        _orders(visit, "dispatched"),
        _orders(visit, "disputed"),
        visit.api.page(f"/api/vendors/{visit.user.vendor_id}/sales", **{"from": today}),
    )
    groups = (
        ("To hand over", waiting, "Nothing waits. A paid order appears here by itself."),
        ("Waiting for the PIN", under_way, "No parcel is under way."),
        ("Disputed", disputed, ""),
    )
    return visit.render("vendor/today.html", groups=groups, sales=next(iter(sales.items), None))


async def _orders(visit: Visit, status: str) -> list[Json]:
    return (await visit.api.page("/api/orders", status=status, limit=TODAY_ORDERS_MAX, **{"as": "vendor"})).items


@FAMILY.page("/orders", title="Orders", any_of=DELIVERS, menu="Orders")
async def orders_page(visit: Visit) -> Response:
    return await show_list(visit, ORDERS if visit.may(*VENDOR) else HUB_ORDERS, "vendor/orders.html")


@FAMILY.page("/orders/{id:uuid}/fulfil", title="Order", any_of=DELIVERS)
async def order_page(visit: Visit) -> Response:
    """One order as its vendor sees it: the next step, the buyer, and the money to the kobo."""
    order: Json = await visit.api.get(f"/api/orders/{visit['id']}")
    lines, schedule, returns, dispute = await asyncio.gather(
        _part(visit, "/api/wallets/current/statement", orderId=order["id"], limit=100, **{"from": order["createdAt"]}),
        _part(visit, f"/api/vendors/{visit.user.vendor_id}/payout-schedule"),
        _part(visit, f"/api/orders/{order['id']}/return-requests"),
        _part(visit, f"/api/orders/{order['id']}/dispute") if order["status"] in _AFTER_DISPUTES else _nothing(),
    )
    return visit.render(
        "vendor/order.html",
        title=f"Order {order['number']}",
        order=order,
        share=share_of(order),
        expectation=expectation_of(order, schedule),
        lines=lines or [],
        line_columns=LINES_OF_ORDER,
        returns=returns or [],
        return_columns=RETURNS_OF_ORDER,
        dispute=dispute,
    )


_AFTER_DISPUTES: Final = ("disputed", "delivered", "paid", "refund_pending", "refunded")
LINES_OF_ORDER: Final = (
    Column("When", "at", "time"),
    Column("What", lambda line: LINE_NAMES.get(line["kind"], line["kind"])),
    Column("To the wallet", "netMinor", "naira"),
)
RETURNS_OF_ORDER: Final = (
    Column("Return", "id", "id", link="/return-requests/{id}"),
    Column("Status", "status", "badge"),
    Column("Reason", "reason"),
    Column("Refund", "refundMinor", "naira"),
)
LINE_NAMES: Final[Mapping[str, str]] = {
    "release": "Order delivered",
    "debt_repaid": "Debt repaid",
    "refund": "Refund to the buyer",
    "debt_taken": "Debt: the wallet was empty",
    "payout": "Payout to the bank",
    "hold": "Held: chargeback",
    "hold_released": "Hold ended",
    "chargeback": "Chargeback lost",
    "chargeback_won": "Chargeback won",
    "restitution": "Payout failed, money back",
    "reversal": "Payout came back",
    "recovery": "Unrecorded transfer",
    "recovery_returned": "Unrecorded transfer came back",
    "correction": "Correction",
    "waiver": "Remainder given up",
}
"""The kinds of statement lines, for people."""


@FAMILY.action("/orders/{id:uuid}/dispatch", any_of=VENDOR, page=order_page)
async def dispatch(visit: Visit) -> Response:
    await visit.api.post(f"/api/orders/{visit['id']}/dispatch")
    return visit.go(f"/orders/{visit['id']}/fulfil", "The order is handed over. Ask the buyer for the PIN at the door.")


@FAMILY.action("/orders/{id:uuid}/decline", any_of=VENDOR, page=order_page)
async def decline(visit: Visit) -> Response:
    """Cancel the order. A paid one is refunded in full."""
    await visit.api.post(f"/api/orders/{visit['id']}/cancel", {"reason": visit.form["reason"]})
    return visit.go(f"/orders/{visit['id']}/fulfil", "The order is cancelled.")


@FAMILY.page("/orders/{id:uuid}/deliver", title="Enter the PIN", any_of=DELIVERS)
async def pin_page(visit: Visit) -> Response:
    """The entry of the buyer's PIN. What was typed is never shown again."""
    order: Json = await visit.api.get(f"/api/orders/{visit['id']}")
    remaining = visit.error.extensions.get("attemptsRemaining") if visit.error else None
    is_locked = visit.error is not None and (visit.error.status == 429 or remaining == 0)
    return visit.render("vendor/pin.html", order=order, remaining=remaining, is_locked=is_locked)


@FAMILY.action("/orders/{id:uuid}/deliver", any_of=DELIVERS, page=pin_page)
async def deliver(visit: Visit) -> Response:
    pin = visit.form["pin"].replace(" ", "")
    if not (pin.isascii() and pin.isdigit() and 4 <= len(pin) <= 8):
        raise InvalidField("pin", "type the digits of the buyer's message")
    await visit.api.post(f"/api/orders/{visit['id']}/verify-delivery", {"pin": pin})
    return visit.go(f"/orders/{visit['id']}/fulfil", "The PIN is right. The money is on its way to the wallet.")


@FAMILY.action("/orders/{id:uuid}/evidence", any_of=VENDOR, page=order_page)
async def add_evidence(visit: Visit) -> Response:
    """Add an image to an open dispute."""
    await visit.api.post(f"/api/orders/{visit['id']}/dispute/evidence", files={"file": await visit.form.image("file")})
    return visit.go(f"/orders/{visit['id']}/fulfil", "The image is added. Support sees it.")


def expectation_of(order: Json, schedule: Json | None) -> str:
    """What will be paid for the order, and when."""
    share = naira(share_of(order))
    bank = "You request the payout to the bank yourself."
    if schedule and schedule.get("nextAt"):
        bank = f"The next automatic payout is on {lagos(schedule['nextAt']).striptags()}."
    return {
        "Processing": "Not paid yet. Nothing is due to you until the buyer has paid.",
        "paid_escrow": f"{share} is held for you. It reaches your wallet when the buyer's PIN is entered. {bank}",
        "dispatched": f"{share} is held for you. It reaches your wallet when the buyer's PIN is entered. {bank}",
        "delivered": f"{share} is on its way to your wallet; it takes a few seconds. {bank}",
        "paid": f"The money is in your wallet, as the lines below show. {bank}",
        "disputed": f"{share} is frozen until the dispute is decided.",
        "refund_pending": "The money goes back to the buyer.",
        "refunded": "The money went back to the buyer.",
    }.get(order["status"], "The order ended before it was paid. Nothing is due to you.")


# ---- Products --------------------------------------------------------------------------------------------------------

CATALOG: Final = ("catalog:own",)
PRODUCT_STATES: Final = (("published", "published"), ("draft", "draft (only you see it)"))


def rating_of(product: Json) -> str:
    return f"{product['rating']:.1f} ({product['ratingCount']})" if product.get("ratingCount") else ""


PRODUCTS = ListView(
    "/api/products/mine",
    columns=(
        Column("Product", "name", link="/products/{id}"),
        Column("Price", "priceMinor", "naira"),
        Column("Stock", "stock", "number"),
        Column("Status", "status", "badge"),
        Column("Category", "category"),
        Column("Rating", rating_of),
        Column("Images", lambda product: len(product["images"]), "number"),
    ),
    filters=(Filter("status", "Status", choices("published", "draft", "removed")),),
    empty="No product yet. Add the first one: buyers see it at once.",
)


@FAMILY.page("/products", title="Products", any_of=CATALOG, menu="Products")
async def products_page(visit: Visit) -> Response:
    return await show_list(visit, PRODUCTS, "vendor/products.html")


@FAMILY.page("/products/new", title="New product", any_of=CATALOG)
async def new_product_page(visit: Visit) -> Response:
    return visit.render("vendor/new_product.html", states=PRODUCT_STATES)


@FAMILY.action("/products/new", any_of=CATALOG, page=new_product_page)
async def create_product(visit: Visit) -> Response:
    product = await visit.api.post("/api/products", {**_product_fields(visit.form), "stock": _stock(visit.form)})
    return visit.go(f"/products/{product['id']}", "The product is saved. Add images now.")


@FAMILY.page("/products/{id:uuid}", title="Product", any_of=CATALOG)
async def product_page(visit: Visit) -> Response:
    product, reviews = await asyncio.gather(
        visit.api.get(f"/api/products/{visit['id']}"),
        _part(visit, f"/api/products/{visit['id']}/reviews", limit=20),
    )
    if product["vendorId"] != visit.user.vendor_id:
        raise ApiProblem(404, {"code": "RESOURCE_NOT_FOUND", "title": "Not found", "detail": _NOT_YOURS})
    return visit.render(
        "vendor/product.html",
        title=product["name"],
        product=product,
        images=[(url.rsplit("/", 1)[-1], url) for url in product["images"]],
        reviews=reviews or [],
        states=PRODUCT_STATES,
    )


_NOT_YOURS: Final = "The product is another vendor's, or does not exist."


@FAMILY.action("/products/{id:uuid}/edit", any_of=CATALOG, page=product_page)
async def edit_product(visit: Visit) -> Response:
    await _change(visit, _product_fields(visit.form))
    return visit.go(f"/products/{visit['id']}", "The product is saved.")


@FAMILY.action("/products/{id:uuid}/stock", any_of=CATALOG, page=product_page)
async def set_stock(visit: Visit) -> Response:
    """Set a counted stock. It is refused when orders changed the stock since the page was opened."""
    await _change(visit, {"stock": _stock(visit.form)})
    return visit.go(f"/products/{visit['id']}", "The stock is saved.")


async def _change(visit: Visit, fields: Json) -> None:
    path = f"/api/products/{visit['id']}"
    try:
        await visit.api.patch(path, {**fields, "revision": visit.form.number("revision")})
    except ApiProblem as problem:
        if problem.status != 409:
            raise
        # A second click of the same form finds its own change: it has one effect, and is no error.
        # The public form of a product has no status.
        product: Json = {"status": "published", **await visit.api.get(path)}
        if any(product.get(name) != value for name, value in fields.items()):
            raise


@FAMILY.action("/products/{id:uuid}/withdraw", any_of=CATALOG, page=product_page)
async def withdraw_product(visit: Visit) -> Response:
    await visit.api.delete(f"/api/products/{visit['id']}")
    return visit.go("/products", "The product is withdrawn. Open orders continue.")


@FAMILY.action("/products/{id:uuid}/images", any_of=CATALOG, page=product_page)
async def add_image(visit: Visit) -> Response:
    await visit.api.post(f"/api/products/{visit['id']}/images", files={"file": await visit.form.image("file")})
    return visit.go(f"/products/{visit['id']}", "The image is added.")


@FAMILY.action("/products/{id:uuid}/images/{image_id:uuid}/remove", any_of=CATALOG, page=product_page)
async def remove_image(visit: Visit) -> Response:
    await visit.api.delete(f"/api/products/{visit['id']}/images/{visit['image_id']}")
    return visit.go(f"/products/{visit['id']}", "The image is removed.")


def _product_fields(form: Form) -> Json:
    return {
        "name": form["name"],
        "description": form["description"],
        "category": " ".join(form["category"].lower().split()),
        "priceMinor": _needed(form.minor("priceMinor"), "priceMinor"),
        "status": form["status"] or "published",
    }


def _stock(form: Form) -> int:
    return _needed(form.number("stock"), "stock")


def _needed(number: int | None, name: str) -> int:
    if number is None:
        raise InvalidField(name, "is needed")
    return number


# ---- Flash sales -----------------------------------------------------------------------------------------------------

SALES_KEEPER: Final = ("flash_sales:keep",)

FLASH_SALES = ListView(
    "/api/flash-sales",
    columns=(
        Column("Product", "productName", link="/flash-sales/{id}"),
        Column("Status", "status", "badge"),
        Column("Price", "priceMinor", "naira"),
        Column("Instead of", "regularPriceMinor", "naira"),
        Column("Left", lambda sale: f"{sale['remaining']} of {sale['quantity']}"),
        Column("Starts", "startsAt", "time"),
        Column("Ends", "endsAt", "time"),
    ),
    filters=(Filter("status", "Status", choices("prepared", "upcoming", "running", "ended")),),
    empty="No sale runs or is planned. A sale sells a limited quantity at a lower price for a time.",
)


@FAMILY.page("/flash-sales", title="Flash sales", any_of=SALES_KEEPER, menu="Flash sales")
async def flash_sales_page(visit: Visit) -> Response:
    fixed = {"vendorId": visit.user.vendor_id or ""}
    view = ListView(FLASH_SALES.path, FLASH_SALES.columns, FLASH_SALES.filters, FLASH_SALES.empty, fixed)
    return await show_list(visit, view, "vendor/flash_sales.html")


@FAMILY.page("/flash-sales/new", title="New flash sale", any_of=SALES_KEEPER)
async def new_flash_sale_page(visit: Visit) -> Response:
    products = [product async for product in visit.api.every_row("/api/products/mine", status="published")]
    options = [(one["id"], f"{one['name']} ({naira(one['priceMinor'])}, {one['stock']} in stock)") for one in products]
    return visit.render("vendor/new_flash_sale.html", options=options, chosen=visit.query.get("product", ""))


@FAMILY.action("/flash-sales/new", any_of=SALES_KEEPER, page=new_flash_sale_page)
async def create_flash_sale(visit: Visit) -> Response:
    form = visit.form
    body = {
        "productId": form["productId"],
        "priceMinor": _needed(form.minor("priceMinor"), "priceMinor"),
        "quantity": _needed(form.number("quantity"), "quantity"),
        "perBuyerLimit": _needed(form.number("perBuyerLimit"), "perBuyerLimit"),
        "startsAt": _lagos_instant(form, "startsAt"),
        "endsAt": _lagos_instant(form, "endsAt"),
    }
    sale = await visit.api.post("/api/flash-sales", body)
    return visit.go(f"/flash-sales/{sale['id']}", "The sale is planned.")


@FAMILY.page("/flash-sales/{id:uuid}", title="Flash sale", any_of=SALES_KEEPER)
async def flash_sale_page(visit: Visit) -> Response:
    sale: Json = await visit.api.get(f"/api/flash-sales/{visit['id']}")
    return visit.render("vendor/flash_sale.html", title=f"Sale of {sale['productName']}", sale=sale)


@FAMILY.action("/flash-sales/{id:uuid}/approve", any_of=SALES_KEEPER, page=flash_sale_page)
async def approve_flash_sale(visit: Visit) -> Response:
    """Approve a sale that staff proposed, under the terms that the page showed."""
    await visit.api.post(f"/api/flash-sales/{visit['id']}/approve", {"hash": visit.form["hash"]})
    return visit.go(f"/flash-sales/{visit['id']}", "The sale is approved.")


@FAMILY.action("/flash-sales/{id:uuid}/end", any_of=SALES_KEEPER, page=flash_sale_page)
async def end_flash_sale(visit: Visit) -> Response:
    await visit.api.post(f"/api/flash-sales/{visit['id']}/end")
    return visit.go("/flash-sales", "The sale is ended. Placed orders keep their price.")


def _lagos_instant(form: Form, name: str) -> str:
    """A date and time typed in Lagos time, with its offset."""
    try:
        return datetime.fromisoformat(form[name]).replace(tzinfo=LAGOS).isoformat()
    except ValueError:
        raise InvalidField(name, "choose a date and a time") from None


# ---- Reviews and sales -----------------------------------------------------------------------------------------------

REVIEW_COLUMNS: Final = (
    Column("Rating", lambda review: "★" * review["rating"] + f" {review['rating']} of 5"),
    Column("Text", "text"),
    Column("About", lambda review: "the product" if review["productId"] else "the shop"),
    Column("Written", "createdAt", "time"),
)


@FAMILY.page("/own-reviews", title="Reviews", any_of=CATALOG, menu="Reviews")
async def own_reviews_page(visit: Visit) -> Response:
    view = ListView(
        f"/api/vendors/{visit.user.vendor_id}/reviews",
        REVIEW_COLUMNS,
        empty="No review yet. Buyers are asked for one after the delivery.",
    )
    if visit.query.get("format") == "csv":
        return await show_list(visit, view)
    return visit.render("vendor/reviews.html", shown=await load_list(visit, view))


DAYS_SHOWN: Final = 30
_FIGURES: Final = (
    ("Orders", "orders"),
    ("Units", "units"),
    ("Paid by buyers", "grossMinor"),
    ("Commission", "commissionMinor"),
    ("Delivery fees", "deliveryFeeMinor"),
    ("Refunded", "refundedMinor"),
    ("To the wallet", "netMinor"),
    ("In escrow", "lockedMinor"),
)
_FIGURE_COLUMNS: Final = tuple(
    Column(label, name, "naira" if name.endswith("Minor") else "number") for label, name in _FIGURES
)


@FAMILY.page("/sales-report", title="Sales", any_of=("wallet:own",), menu="Sales")
async def sales_page(visit: Visit) -> Response:
    """The vendor's sales by day, week, month or product, with a chart. The last 30 days when no day is chosen."""
    first = SystemClock().now().astimezone(LAGOS).date() - timedelta(days=DAYS_SHOWN - 1)
    group = visit.query.get("groupBy", "day")
    sort = {} if group != "product" else {"sort": "gross", "order": "desc"}
    view = ListView(
        f"/api/vendors/{visit.user.vendor_id}/sales",
        columns=(Column("Product" if group == "product" else "Period", "label"), *_FIGURE_COLUMNS),
        filters=(
            Filter("groupBy", "By", choices("week", "month", "product"), blank="day"),
            Filter("from", "From", kind="date"),
            Filter("to", "Before", kind="date"),
        ),
        empty="No sale in this period. Choose an earlier first day.",
        fixed={**sort, **({} if visit.query.get("from") else {"from": first.isoformat()})},
    )
    if visit.query.get("format") == "csv":
        return await show_list(visit, view)
    shown = await load_list(visit, view)
    rows = shown.rows.items if group == "product" else sorted(shown.rows.items, key=lambda row: str(row["key"]))
    chart = bar_chart([(row["label"], row["grossMinor"]) for row in rows], "Paid by buyers", naira) if rows else None
    total = {name: sum(row[name] for row in rows) for _, name in _FIGURES}
    return visit.render(
        "vendor/sales.html", shown=shown, chart=chart, total=total, figures=_FIGURES, first=first.isoformat()
    )


# ---- Parts -----------------------------------------------------------------------------------------------------------


async def _part(visit: Visit, path: str, **parameters: Any) -> Any:
    """A part of the page; None where the person may not read it, or there is none."""
    try:
        return await visit.api.get(path, **parameters)
    except ApiProblem as problem:
        if problem.status in (403, 404, 422):
            return None
        raise


async def _nothing() -> None:
    return None
