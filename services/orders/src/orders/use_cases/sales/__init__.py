"""The figures of sales, as payments reports them."""

__all__ = ["project_sale"]
