"""Beginning a sale of a limited quantity."""

from datetime import datetime
from uuid import UUID

from common.auth.caller import Caller
from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_id
from common.primitives.problems import Forbidden
from orders.domain.errors import BadFlashSale
from orders.domain.order_roles import proposes_sales_at, sells_for
from orders.domain.sales import SaleTerms, check_terms
from orders.store import sales


async def create_flash_sale(uow: UnitOfWork, caller: Caller, terms: SaleTerms, *, now: datetime) -> UUID:
    """A merchant sells so many of a product for less, from one moment to another. Staff of the campus propose such a sale: it holds
    once the vendor consents.

    Raises BadFlashSale (422), Forbidden for another's product, FlashSaleOverlaps (409).
    """
    await sales.lock_sales_of(uow, terms.product_id)
    product = await sales.find_product(uow, terms.product_id)
    if product is None:
        raise BadFlashSale({"productId": "there is no such product"})
    with_consent = sells_for(caller, product.vendor_id)
    if not with_consent and not proposes_sales_at(caller, product.campus_id):
        raise Forbidden
    others = await sales.list_other_sales(uow, product.id, now)
    check_terms(terms, regular_price_minor=product.price_minor, stock=product.stock, others=others, now=now)
    sale_id = new_id()
    await sales.record_sale(uow, sale_id, terms, product, created_by=caller.id, with_consent=with_consent, now=now)
    return sale_id
