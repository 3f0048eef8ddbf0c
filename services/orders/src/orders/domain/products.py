"""A merchant's product: its bounds, and what may be done to it (contract section 11)."""

import re
import unicodedata
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

from common.primitives.problems import NotFound, StaleRevision
from orders.domain.errors import ForeignProduct, ProductRemoved, TooManyImages

NAME_CHARACTERS_MAX: Final = 120
DESCRIPTION_CHARACTERS_MAX: Final = 5_000
CATEGORY_CHARACTERS_MAX: Final = 60
# Ten million naira: above anything sold on a campus, and ninety-nine of it are far from the end of a 64-bit sum.
PRICE_MINOR_MAX: Final = 1_000_000_000
STOCK_MAX: Final = 1_000_000
# A page of products stays small, and a merchant's eight views of a thing are enough to sell it.
IMAGES_MAX: Final = 8


@dataclass(frozen=True, slots=True)
class Product:
    """A product as its merchant keeps it. `images` are the ids of its pictures in their order; the price is in kobo."""

    id: UUID
    vendor_id: UUID
    campus_id: UUID
    name: str
    description: str
    category: str
    price_minor: int
    stock: int
    images: tuple[str, ...]
    draft: bool
    removed: bool
    revision: int

    @property
    def is_listed(self) -> bool:
        return not self.draft and not self.removed

    def changed(self, **fields: Any) -> "Product":
        """The product with other values, and the next revision when any of them is another one."""
        after = replace(self, **fields)
        return after if after == self else replace(after, revision=self.revision + 1)

    def with_image(self, image_id: UUID) -> "Product":
        """The product with one more picture; the same when it has it already. Raises TooManyImages (409)."""
        if str(image_id) in self.images:
            return self
        if len(self.images) >= IMAGES_MAX:
            raise TooManyImages
        return self.changed(images=(*self.images, str(image_id)))

    def without_image(self, image_id: UUID) -> "Product":
        """The product without the picture; the same when it does not have it."""
        return self.changed(images=tuple(name for name in self.images if name != str(image_id)))


def check_writable(own: Product | None, seen_vendor_id: UUID | None, revision: int | None) -> Product:
    """The caller's own product, when it may be written at the revision that the caller read.

    `seen_vendor_id`: whose the product is that the caller sees under this id, if any. Raises NotFound (404) for what the caller
    does not see, ForeignProduct (403) for what everybody sees and another vendor owns, ProductRemoved and StaleRevision (409).
    """
    if own is None:
        raise NotFound if seen_vendor_id is None else ForeignProduct
    if own.removed:
        raise ProductRemoved
    if revision is not None and revision != own.revision:
        raise StaleRevision
    return own


def normalize_category(text: str) -> str:
    """One name for one category, however it is typed: without spaces around it, one between words, in small letters."""
    return " ".join(text.split()).lower()


def plain(text: str) -> str:
    """As words are looked for: small letters without accents or other forms. The database's `plain` does the same to the catalog."""
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).lower()


def search_words(text: str) -> list[str]:
    """The plain words of a search; at most eight, because more are narrower than any name, and dearer."""
    return re.findall(r"[^\W_]+", plain(text))[:_SEARCH_WORDS_MAX]


_ACCENTS: Final = re.compile("[\u0300-\u036f]+")


_SEARCH_WORDS_MAX: Final = 8
