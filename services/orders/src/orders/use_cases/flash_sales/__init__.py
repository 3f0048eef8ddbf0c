"""Flash sales of products.

**During a flash sale the product is sold under the sale's terms only.** Sold out and beyond the limit are 409, so
that no buyer pays the regular price unintentionally. `POST /:id/end` ends a sale. Units are counted on the sale's row
under its lock (`take_sale_units` in PL/pgSQL, whose statements each see the last commit), after the stock: products
before sales. Units return with the stock; a late charge claims them again, and is refunded when the sale is full.

**A flash sale of campus staff needs the vendor's approval** (`POST /:id/approve`, `{hash?}`, `flash_sales:keep` of
the vendor). Until then it is `prepared`, has no effect, and only the vendor and the campus staff see it
(`?status=prepared`). When its period passes it is `expired`. Staff (`flash_sales:propose`) need AAL2.
"""
