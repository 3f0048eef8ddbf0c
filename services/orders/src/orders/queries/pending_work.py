"""Work that waits for vendors and staff in orders (contract section 13.6)."""

from typing import Final

from common.standard_endpoints.pending_work import WorkKind
from orders.queries.campus_orders import AWAITING_DISPUTED
from orders.queries.disputes import AWAITING_RESOLUTION
from orders.queries.flash_sales import PREPARED_SALE
from orders.queries.pin_reissues import AWAITING_REISSUE
from orders.queries.reports import AWAITING_DECISION
from orders.queries.returns import AWAITING_RETURN

PENDING_WORK: Final = (
    # No caller reads the timer that cancels the order of an idle vendor.
    WorkKind(
        "orders_to_dispatch",
        ("orders:fulfil",),
        "/api/orders?as=vendor&status=paid_escrow",
        """
        SELECT orders.updated_at AS since, timer.due_at AS due
        FROM orders LEFT JOIN order_timers AS timer ON timer.order_id = orders.id AND timer.kind = 'vendor_idle'
        WHERE orders.vendor_id = $2 AND orders.status = 'paid_escrow'
        """,
        past_policies=True,
    ),
    WorkKind(
        "orders_to_pack",
        ("orders:pack",),
        "/api/packing-orders?status=paid_escrow",
        "SELECT updated_at AS since, NULL::timestamptz AS due FROM packing_orders WHERE status = 'paid_escrow'",
    ),
    WorkKind(
        "flash_sales_to_approve",
        ("flash_sales:keep",),
        "/api/flash-sales?status=prepared&vendorId={vendor_id}",
        f"""
        SELECT sale.created_at AS since, sale.ends_at AS due
        FROM flash_sales AS sale JOIN listed_products AS product ON product.id = sale.product_id
        WHERE sale.vendor_id = $2 AND {PREPARED_SALE}
        """,
    ),
    WorkKind(
        "return_requests_to_decide",
        (),
        "/api/return-requests?awaiting=decision",
        f"SELECT created_at AS since, NULL::timestamptz AS due FROM return_requests WHERE {AWAITING_RETURN}",
        one_of=("orders:fulfil", "returns:decide"),
    ),
    WorkKind(
        "disputes_to_resolve",
        ("orders:read", "disputes:prepare"),
        "/api/campus-orders?awaiting=resolution",
        f"""
        SELECT dispute.raised_at AS since, NULL::timestamptz AS due
        FROM orders JOIN order_disputes AS dispute ON dispute.order_id = orders.id
        WHERE dispute.ended_at IS NULL AND {AWAITING_DISPUTED}
        """,
    ),
    WorkKind(
        "reports_to_decide",
        ("reports:decide",),
        "/api/reports?awaiting=decision",
        f"SELECT created_at AS since, NULL::timestamptz AS due FROM reports WHERE {AWAITING_DECISION}",
    ),
    WorkKind(
        "pin_reissues_to_approve",
        ("pin_reissues:approve",),
        "/api/pin-reissues?awaiting=approval",
        f"""
        SELECT reissue.prepared_at AS since, reissue.expires_at AS due
        FROM pin_reissues AS reissue WHERE {AWAITING_REISSUE}
        """,
    ),
    WorkKind(
        "dispute_resolutions_to_approve",
        ("disputes:approve",),
        "/api/dispute-resolutions?awaiting=approval",
        f"""
        SELECT resolution.prepared_at AS since, NULL::timestamptz AS due
        FROM dispute_resolutions AS resolution WHERE {AWAITING_RESOLUTION}
        """,
    ),
)
