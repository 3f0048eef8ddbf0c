"""Flash sales of products."""

__all__ = [
    "approve_flash_sale",
    "create_flash_sale",
    "end_flash_sale",
]
