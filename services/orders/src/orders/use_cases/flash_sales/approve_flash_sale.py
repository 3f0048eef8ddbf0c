"""Approve a flash sale that staff proposed."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.decisions import must_match
from common.primitives.problems import Forbidden, NotFound
from orders.domain.errors import FlashSaleNotPossible, InvalidFlashSale
from orders.domain.flash_sales import check_terms, check_variant
from orders.domain.order_roles import may_sell_for
from orders.store import flash_sales


async def approve_flash_sale(
    uow: UnitOfWork, caller: Caller, sale_id: UUID, product_id: UUID, approved_hash: str | None, *, now: datetime
) -> None:
    """Approve the sale as its vendor, whose terms are validated like those of a new sale.

    A repeated approval changes nothing.

    The caller must have been shown to see the sale. Raises NotFound, Forbidden for another vendor's sale, the errors of
    `must_match`, FlashSaleNotPossible and FlashSaleOverlaps (409).
    """
    await flash_sales.lock_sales_of(uow, product_id)
    sale = await flash_sales.lock_sale(uow, sale_id)
    if sale is None:
        raise NotFound
    if not may_sell_for(caller, sale.vendor_id):
        raise Forbidden
    if approved_hash is not None:
        must_match(sale.hash, approved_hash)
    if sale.approved:
        return
    variant_id = sale.terms.variant_id
    product = await flash_sales.find_product(uow, product_id, variant_id)
    if product is None:
        raise FlashSaleNotPossible({"productId": "is no longer sold"})
    others = await flash_sales.list_other_sales(uow, product_id, variant_id, now)
    try:
        check_variant(variant_id, has_variants=product.has_variants, is_sold=product.variant_is_sold)
        check_terms(sale.terms, regular_price_minor=product.price_minor, stock=product.stock, others=others, now=now)
    except InvalidFlashSale as error:
        raise FlashSaleNotPossible({param.name: param.reason for param in error.invalid_params}) from error
    await flash_sales.save_consent(uow, sale_id, caller.id, now)
