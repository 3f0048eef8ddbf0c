"""The actions of a member of staff or a vendor in this service: cancellations, resolutions, returns, reviews, sales."""

from typing import Final

from common.standard_endpoints.stop_routes import own_stops

OWN_ACTIONS: Final = (
    """
SELECT CASE event WHEN 'arrived' THEN 'order_arrived' WHEN 'vendor_dispatches' THEN 'order_dispatched'
        WHEN 'pin_accepted' THEN 'order_delivered' ELSE 'order_cancelled' END AS act,
    'order' AS subject_kind, order_id AS subject_id, '{}'::jsonb AS detail,
    occurred_at AS created_at
FROM order_history
WHERE actor_id = $1 AND actor_role IS DISTINCT FROM 'buyer'
  AND event IN ('arrived', 'vendor_dispatches', 'pin_accepted', 'vendor_cancels', 'staff_cancels')
UNION ALL
SELECT 'resolution_prepared', 'order', order_id, jsonb_build_object('outcome', outcome, 'refundMinor', refund_minor),
    prepared_at
FROM dispute_resolutions WHERE prepared_by = $1
UNION ALL
SELECT 'resolution_' || status, 'order', order_id, jsonb_build_object('outcome', outcome, 'refundMinor', refund_minor),
    decided_at
FROM dispute_resolutions WHERE decided_by = $1
UNION ALL
SELECT 'pin_reissue_prepared', 'order', order_id, '{}', prepared_at FROM pin_reissues WHERE prepared_by = $1
UNION ALL
SELECT 'pin_reissue_' || status, 'order', order_id, '{}', decided_at FROM pin_reissues WHERE decided_by = $1
UNION ALL
SELECT CASE WHEN cancels_lines THEN 'order_line_cancelled' ELSE 'return_' || status END, 'order', order_id,
    jsonb_build_object('refundMinor', refund_minor), decided_at
FROM return_requests WHERE decided_by = $1
UNION ALL
SELECT 'review_hidden', 'review', id, '{}', hidden_at FROM reviews WHERE hidden_by = $1
UNION ALL
SELECT 'product_delisted', 'product', product_id, jsonb_build_object('reason', reason), created_at
FROM product_takedowns WHERE delisted_by = $1
UNION ALL
SELECT 'product_relisted', 'product', product_id, jsonb_build_object('reason', restored_because), restored_at
FROM product_takedowns WHERE restored_by = $1
UNION ALL
SELECT 'flash_sale_created', 'flash_sale', id, jsonb_build_object('priceMinor', price_minor), created_at
FROM flash_sales WHERE created_by = $1
"""
    f"UNION ALL {own_stops('checkout')}"
)
