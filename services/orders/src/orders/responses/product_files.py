"""Responses of an import of products."""

from typing import Annotated

from msgspec import Meta

from common.web.response_models import ResponseModel


class ImportFault(ResponseModel):
    """A row that changed nothing."""

    row: Annotated[int, Meta(description="The line in the file; the head is 1.")]
    errors: Annotated[list[str], Meta(description="What is wrong with the row, each with its column.")]


class ProductImport(ResponseModel):
    """The result of an import."""

    created: Annotated[int, Meta(description="The number of created products.")]
    updated: Annotated[int, Meta(description="The number of updated products.")]
    rows: Annotated[list[ImportFault], Meta(description="The rows with errors.")]
