"""Create a flash sale."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import Forbidden
from orders.domain.errors import InvalidFlashSale
from orders.domain.flash_sales import SaleTerms, check_terms, check_variant
from orders.domain.order_roles import may_propose_sales_at, may_sell_for
from orders.store import flash_sales


async def create_flash_sale(uow: UnitOfWork, caller: Caller, terms: SaleTerms, *, now: datetime) -> UUID:
    """Create the vendor's flash sale of a product or variant, and return its id. Staff of the campus propose one, which
    the vendor must approve.

    Raises InvalidFlashSale (422), Forbidden for another's product, FlashSaleOverlaps (409).
    """
    await flash_sales.lock_sales_of(uow, terms.product_id)
    product = await flash_sales.find_product(uow, terms.product_id, terms.variant_id)
    if product is None:
        raise InvalidFlashSale({"productId": "does not exist"})
    with_consent = may_sell_for(caller, product.vendor_id)
    if not with_consent and not may_propose_sales_at(caller, product.campus_id):
        raise Forbidden
    check_variant(terms.variant_id, has_variants=product.has_variants, is_sold=product.variant_is_sold)
    others = await flash_sales.list_other_sales(uow, product.id, terms.variant_id, now)
    check_terms(terms, regular_price_minor=product.price_minor, stock=product.stock, others=others, now=now)
    sale_id = new_id()
    await flash_sales.record_sale(
        uow, sale_id, terms, product, created_by=caller.id, with_consent=with_consent, now=now
    )
    return sale_id
