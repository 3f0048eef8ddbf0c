"""Import products."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.problems import ValidationFailed
from orders.domain.errors import NoVendor
from orders.domain.product_files import ImportedRow, ImportResult, products_of
from orders.domain.products import normalize_category
from orders.domain.variants import Option, RequestedVariant, Variant
from orders.store import products
from orders.use_cases.products.change_product import change_product
from orders.use_cases.products.create_product import ProductContent, create_product
from orders.use_cases.products.replace_variants import replace_variants
from orders.use_cases.products.steps import load_writable_product


class _Incomplete(Exception):
    """Roll an atomic import back."""


async def import_products(
    database: Database,
    caller: Caller,
    rows: Sequence[ImportedRow],
    result: ImportResult,
    *,
    atomic: bool,
    now: datetime,
) -> ImportResult:
    """Create and update the merchant's products by the SKUs of the rows, in one transaction, and return what was done.

    A row with a fault changes nothing; with `atomic`, one fault rolls back all. Variants that the file does not name
    stay. Raises NoVendor (403), VendorNotReceived and ErasureInProgress (409).
    """
    if caller.vendor_id is None:
        raise NoVendor
    try:
        async with database.unit_of_work(acting_as=caller) as uow:
            await _import(uow, caller.vendor_id, rows, result, now)
            if atomic and result.faults:
                raise _Incomplete
    except _Incomplete:
        result.created = result.updated = 0
    return result


async def _import(
    uow: UnitOfWork, vendor_id: UUID, rows: Sequence[ImportedRow], result: ImportResult, now: datetime
) -> None:
    found: dict[str, list[products.FoundSku]] = {}
    skus = [row.sku for row in rows if row.sku is not None]
    for one in await products.lock_by_skus(uow, vendor_id, skus):
        found.setdefault(one.sku, []).append(one)
    first_rows: dict[str, int] = {}
    for group in products_of(rows):
        own = [row for row in group if _is_first(row, first_rows, result)]
        if not own:
            continue
        matched = {row.row: found.get(row.sku or "", []) for row in own}
        product_ids = {one.product_id for matches in matched.values() for one in matches}
        try:
            if len(product_ids) > 1:
                raise ValidationFailed.of("sku", "the rows of this product name several of your products")
            if product_ids:
                await _update(uow, vendor_id, product_ids.pop(), own, matched, now)
                result.updated += 1
            else:
                await _create(uow, vendor_id, own, now)
                result.created += 1
        except ValidationFailed as error:
            for row in own:
                for param in error.invalid_params:
                    result.add_fault(row.row, f"{param.name}: {param.reason}")


def _is_first(row: ImportedRow, first_rows: dict[str, int], result: ImportResult) -> bool:
    """Return whether no earlier row has the SKU; otherwise record the fault."""
    if row.sku is None or first_rows.setdefault(row.sku, row.row) == row.row:
        return True
    result.add_fault(row.row, f"sku: repeats that of row {first_rows[row.sku]}")
    return False


async def _create(uow: UnitOfWork, vendor_id: UUID, rows: Sequence[ImportedRow], now: datetime) -> None:
    first = rows[0]
    draft = not any(row.active for row in rows)
    variants = [_requested(row, active=row.active or draft) for row in rows if row.option_values]
    content = ProductContent(
        first.name,
        first.description,
        normalize_category(first.category),
        first.price_minor,
        first.stock,
        draft,
        first.condition,
        _options([], rows) if variants else (),
        variants,
    )
    product_id = await create_product(uow, content, vendor_id=vendor_id, now=now)
    if first.sku is not None and not variants:
        await products.save_sku(uow, product_id, first.sku)


async def _update(
    uow: UnitOfWork,
    vendor_id: UUID,
    product_id: UUID,
    rows: Sequence[ImportedRow],
    matched: Mapping[int, Sequence[products.FoundSku]],
    now: datetime,
) -> None:
    first = rows[0]
    fields: dict[str, object] = {
        "name": first.name,
        "description": first.description,
        "category": normalize_category(first.category),
        "condition": first.condition,
    }
    variant_ids = {row.row: matches[0].variant_id for row in rows if (matches := matched[row.row])}
    if any((row.row in variant_ids and variant_ids[row.row] is None) == bool(row.option_values) for row in rows):
        raise ValidationFailed.of("sku", "belongs to a product with other options, or with none")
    if first.option_values:
        product = await load_writable_product(uow, product_id, vendor_id)
        variants, _ = await products.list_variants(uow, product_id)
        listed: dict[UUID | None, Variant] = {variant.id: variant for variant in variants}
        kept = [variant for variant in variants if variant.id not in variant_ids.values()]
        # A product without an active row is a draft, whose variants stay as they are.
        activates = any(row.active for row in rows)
        fields["draft"] = not activates and (product.draft or not any(variant.active for variant in kept))
        requested = [_kept(variant) for variant in kept]
        for row in rows:
            variant = listed.get(variant_ids.get(row.row))
            stays = variant is None or variant.active
            requested.append(_requested(row, variant, active=stays if fields["draft"] else row.active))
        options = _options(kept, rows)
        await replace_variants(uow, product_id, options, requested, vendor_id=vendor_id, revision=None, now=now)
    else:
        fields |= {"price_minor": first.price_minor, "stock": first.stock, "draft": not first.active}
    await change_product(uow, product_id, fields, vendor_id=vendor_id, revision=None, now=now)


def _options(kept: Sequence[Variant], rows: Sequence[ImportedRow]) -> list[Option]:
    """Return the options with the values of the variants that stay and of the rows, in their sequence."""
    values: dict[str, dict[str, None]] = {}
    for pairs in (*(variant.option_values for variant in kept), *(row.option_values for row in rows)):
        for name, value in pairs:
            values.setdefault(name, {})[value] = None
    return [Option(name, tuple(known)) for name, known in values.items()]


def _requested(row: ImportedRow, variant: Variant | None = None, *, active: bool) -> RequestedVariant:
    """Return the variant of a row. `variant` is the stored one; its id in place of a SKU is not a SKU."""
    sku = None if variant is not None and row.sku == str(variant.id) else row.sku
    return RequestedVariant(
        None if variant is None else variant.id,
        sku,
        dict(row.option_values),
        row.price_minor,
        row.stock,
        None if variant is None else variant.image_id,
        active,
    )


def _kept(variant: Variant) -> RequestedVariant:
    return RequestedVariant(
        variant.id,
        variant.sku,
        dict(variant.option_values),
        variant.price_minor,
        variant.stock,
        variant.image_id,
        variant.active,
    )
