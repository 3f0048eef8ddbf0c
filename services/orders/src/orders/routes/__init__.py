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

# In the order of registration: `/api/products/mine` precedes `/api/products/{product_id}`.
ROUTERS = (
    products.list_router,
    own_products.router,
    products.router,
    media.router,
    orders.router,
    delivery.router,
    disputes.router,
    returns.router,
    campus_orders.router,
    reviews.router,
    carts.router,
    flash_sales.router,
    sales.router,
)
