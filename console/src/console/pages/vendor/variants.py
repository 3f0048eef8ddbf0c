"""Options and variants of a vendor's product."""

import hashlib
from itertools import product as combinations
from math import prod
from typing import Final

from starlette.responses import Response

from console.api import ApiProblem, Json
from console.families import Screens
from console.pages.vendor.products import CATALOG, own_product
from console.parts import needed
from console.visit import Form, InvalidField, Visit

SCREENS = Screens()

OPTIONS_MAX: Final = 3
VARIANTS_MAX: Final = 100
"""The API accepts no more (contract section 11.6)."""


@SCREENS.page("/products/{id:uuid}/variants", title="Options and variants", any_of=CATALOG)
async def variants_page(visit: Visit) -> Response:
    product = await own_product(visit)
    listed = listed_variants(product)
    return visit.render(
        "vendor/variants.html",
        title=f"Variants of {product['name']}",
        product=product,
        variants=[(", ".join(one["values"].values()), one) for one in listed],
        options=[*product["options"], *[{"name": "", "values": []}] * (OPTIONS_MAX - len(product["options"]))],
        images=[(url.rsplit("/", 1)[-1], f"image {number}") for number, url in enumerate(product["images"], 1)],
        read=_terms_hash(product),
        stocks=" ".join(f"{one['id']}:{one['stock']}" for one in listed),
    )


@SCREENS.action("/products/{id:uuid}/variants/options", any_of=CATALOG, page=variants_page)
async def set_options(visit: Visit) -> Response:
    """Make one variant of each combination. Those that stay keep price and stock; a new one has the product's price and
    no stock.
    """
    product = await own_product(visit)
    options = _options(visit.form)
    if visit.form["read"] != _terms_hash(product) and options != product["options"]:
        raise ApiProblem(409, {"code": "RESOURCE_CONFLICT", "title": "The variants changed", "detail": _CHANGED})
    # An option is the same one by its place: it may be renamed, and one may be added or removed at the end.
    before = {tuple(one["values"].values()): one for one in reversed(listed_variants(product))}
    variants = []
    kept: set[str] = set()
    for values in combinations(*(option["values"] for option in options)) if options else ():
        former = next((one for key, one in before.items() if _agree(key, values) and one["id"] not in kept), None)
        named = dict(zip((option["name"] for option in options), values, strict=True))
        if former is not None:
            kept.add(former["id"])
        variants.append(
            _body(former or {"priceMinor": product["priceMinor"], "stock": 0, "active": True}, values=named)
        )
    await _replace(visit, product, options, variants)
    return visit.go(f"/products/{visit['id']}/variants", "The options are saved. Set prices and stock now.")


@SCREENS.action("/products/{id:uuid}/variants", any_of=CATALOG, page=variants_page)
async def save_variants(visit: Visit) -> Response:
    """Save all variants. An order since the page was opened changed stock alone: a stock that was not counted keeps the
    change, one that was counted is refused.
    """
    product, form = await own_product(visit), visit.form
    listed = listed_variants(product)
    opened = dict(pair.split(":", 1) for pair in form["stocks"].split() if ":" in pair)
    variants = [_filled_in(form, one) for one in listed]
    if variants != [_body(one) for one in listed]:
        if form["read"] != _terms_hash(product):
            raise ApiProblem(409, {"code": "RESOURCE_CONFLICT", "title": "The variants changed", "detail": _CHANGED})
        for one, filled in zip(listed, variants, strict=True):
            if str(filled["stock"]) == opened.get(one["id"]):
                filled["stock"] = one["stock"]
            elif str(one["stock"]) != opened.get(one["id"]) and filled["stock"] != one["stock"]:
                # The form shows the current stock.
                visit.form = Form([])
                label = ", ".join(one["values"].values())
                detail = f"{label}: {one['stock']} in stock now. An order changed it: count again."
                raise ApiProblem(409, {"code": "RESOURCE_CONFLICT", "title": "The stock changed", "detail": detail})
        await _replace(visit, product, product["options"], variants)
    return visit.go(f"/products/{visit['id']}", "The variants are saved.")


_CHANGED: Final = "Other variants were saved since this page was opened. Open it again and repeat the change."


async def _replace(visit: Visit, product: Json, options: list[Json], variants: list[Json]) -> None:
    headers = {"If-Match": f'"{product["revision"]}"'}
    await visit.api.put(
        f"/api/products/{product['id']}/variants", {"options": options, "variants": variants}, headers=headers
    )


def listed_variants(product: Json) -> list[Json]:
    """Return the variants of the present options. Others are kept for their orders only."""
    listed: dict[tuple[str, ...], Json] = {}
    options = product["options"]
    for one in product.get("variants") or []:
        values = one["values"]
        if values.keys() == {option["name"] for option in options} and all(
            values[option["name"]] in option["values"] for option in options
        ):
            in_order = {option["name"]: values[option["name"]] for option in options}
            listed.setdefault(tuple(in_order.values()), {**one, "values": in_order})
    return list(listed.values())


def _agree(former: tuple[str, ...], values: tuple[str, ...]) -> bool:
    return all(before == after for before, after in zip(former, values, strict=False))


def _body(variant: Json, **changes: object) -> Json:
    fields = ("id", "sku", "values", "priceMinor", "stock", "imageId", "active")
    return {name: variant[name] for name in fields if variant.get(name) is not None} | changes


def _filled_in(form: Form, variant: Json) -> Json:
    """Return the variant as the form has it."""
    key = variant["id"]
    changed = {
        "sku": form[f"sku-{key}"] or None,
        "priceMinor": needed(form.minor(f"price-{key}"), f"price-{key}"),
        "stock": needed(form.number(f"stock-{key}"), f"stock-{key}"),
        "imageId": form[f"image-{key}"] or None,
        "active": bool(form[f"active-{key}"]),
    }
    return _body({**variant, **changed})


def _options(form: Form) -> list[Json]:
    options: list[Json] = []
    for place in range(OPTIONS_MAX):
        name = form[f"option{place}"]
        values = [value.strip() for value in form[f"values{place}"].split(",") if value.strip()]
        if bool(name) != bool(values):
            raise InvalidField(f"values{place}" if name else f"option{place}", "an option needs a name and values")
        if name:
            options.append({"name": name, "values": values})
    if prod(len(option["values"]) for option in options) > VARIANTS_MAX:
        raise InvalidField("values0", f"these values make more than {VARIANTS_MAX} variants")
    return options


def _terms_hash(product: Json) -> str:
    """Return a digest of options and variants as the form was opened with them; the stock is none of them."""
    terms = [{**_body(one), "stock": 0} for one in listed_variants(product)]
    return hashlib.sha256(repr((product["options"], terms)).encode()).hexdigest()
