from contracts.demo import VENDORS
from orders.demo import demo_product_id, demo_products


def test_the_demo_has_two_hundred_products_of_both_vendors_in_several_categories() -> None:
    products = demo_products()
    assert len(products) >= 200
    assert {product.level.vendor_id for product in products} == {vendor.id for vendor in VENDORS}
    assert len({product.category for product in products}) >= 8
    assert len({product.level.name for product in products}) == len(products)
    assert any(product.level.stock == 0 for product in products)
    assert all(product.level.price_minor > 0 for product in products)


def test_the_demo_ids_never_change() -> None:
    products = demo_products()
    assert [product.level.product_id for product in products] == [
        demo_product_id(number) for number in range(1, len(products) + 1)
    ]
    assert str(demo_product_id(1)) == "018cc251-f400-7005-8000-000000000001"
    assert products == demo_products()
