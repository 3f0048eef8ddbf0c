"""Answers read into models, and lists followed from page to page."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, ParamSpec, TypeVar

import httpx
from pydantic import TypeAdapter

Shape = TypeVar("Shape")
Item = TypeVar("Item")
Meta = TypeVar("Meta")
Filters = ParamSpec("Filters")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item, Meta]):
    """One page of a list, and what the server says about it."""

    items: list[Item]
    meta: Meta


def read(answer: httpx.Response, shape: type[Shape]) -> Shape:
    """The `data` of an envelope."""
    found: Shape = _adapter(shape).validate_python(answer.json()["data"], by_alias=True)
    return found


def read_page(answer: httpx.Response, item: type[Item], meta: type[Meta]) -> Page[Item, Meta]:
    """The `data` of an envelope as the items of a page, with its `meta`."""
    envelope = answer.json()
    return Page(
        [_adapter(item).validate_python(one) for one in envelope["data"]],
        _adapter(meta).validate_python(envelope["meta"]),
    )


async def each(
    listing: Callable[Filters, Awaitable[Page[Item, Any]]], *args: Filters.args, **filters: Filters.kwargs
) -> AsyncIterator[Item]:
    """Every item of a list that goes on by a cursor or by numbered pages: `async for order in each(campus.get_orders, limit=100)`."""
    more: dict[str, Any] = dict(filters)
    while True:
        page = await listing(*args, **more)
        for item in page.items:
            yield item
        following = _following(page.meta)
        if following is None:
            return
        more |= following


def _following(meta: Any) -> dict[str, Any] | None:
    """What to ask for the next page; none after the last."""
    if hasattr(meta, "next_cursor"):
        return {"cursor": meta.next_cursor} if meta.next_cursor else None
    return {"page": meta.page + 1} if meta.page < meta.total_pages else None


def _adapter(shape: Any) -> TypeAdapter[Any]:
    return _made_once(shape)


@cache
def _made_once(shape: Any) -> TypeAdapter[Any]:
    return TypeAdapter(shape)
