"""Products, their stock and their images."""

__all__ = [
    "attach_image",
    "change_product",
    "check_image_upload",
    "create_product",
    "detach_image",
    "import_products",
    "publish_stock_changes",
    "remove_product",
    "replace_variants",
]
