"""HTTP: parse the request, open the unit of work, call one use case or query, respond."""

from orders.routes import (
    campus_orders,
    carts,
    delivery,
    disputes,
    flash_sales,
    media,
    orders,
    own_products,
    products,
    returns,
    reviews,
    sales,
)

# `/api/products/mine` precedes `/api/products/{product_id}`.
ENDPOINTS = (
    own_products.endpoint,
    products.endpoint,
    media.endpoint,
    orders.endpoint,
    delivery.endpoint,
    disputes.endpoint,
    returns.endpoint,
    campus_orders.endpoint,
    reviews.endpoint,
    carts.endpoint,
    flash_sales.endpoint,
    sales.endpoint,
)
