"""HTTP: parse the request, open the unit of work, call one use case or query, respond."""

from orders.routes import (
    campus_orders,
    carts,
    conversations,
    delivery,
    disputes,
    flash_sales,
    media,
    orders,
    own_products,
    product_files,
    products,
    purchases,
    receipts,
    reports,
    returns,
    reviews,
    sales,
    saved_items,
)

# `/api/products/mine` precedes `/api/products/{product_id}`.
ENDPOINTS = (
    own_products.endpoint,
    products.endpoint,
    media.endpoint,
    orders.endpoint,
    purchases.endpoint,
    receipts.endpoint,
    delivery.endpoint,
    disputes.endpoint,
    returns.endpoint,
    campus_orders.endpoint,
    reviews.endpoint,
    reports.endpoint,
    carts.endpoint,
    flash_sales.endpoint,
    sales.endpoint,
    saved_items.endpoint,
    product_files.endpoint,
    conversations.endpoint,
)
