"""A merchant's product: its limits and its changes (contract section 11)."""

import re
import string
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal
from uuid import UUID

from common.primitives.problems import NotFound, StaleRevision
from orders.domain.errors import ForeignProduct, PricedByVariants, ProductRemoved, TooManyImages
from orders.domain.variants import Option, Variant

NAME_CHARACTERS_MAX: Final = 120
DESCRIPTION_CHARACTERS_MAX: Final = 5_000
CATEGORY_CHARACTERS_MAX: Final = 60
# Ten million naira: above any campus price, and 99 units stay far below a 64-bit sum.
PRICE_MINOR_MAX: Final = 1_000_000_000
STOCK_MAX: Final = 1_000_000
# A vendor is warned from here on: some days of an ordinary product.
STOCK_LOW_MAX: Final = 5
# Keeps a page of products small.
IMAGES_MAX: Final = 8
_SEARCH_WORDS_MAX: Final = 8
_ACCENTS: Final = re.compile("[\u0300-\u036f]+")
_LOWER_CASE: Final = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
# The hooked letters of Hausa have no decomposition.
_HOOKED: Final = str.maketrans("\u0181\u018a\u0198\u01b3\u0253\u0257\u0199\u01b4", "bdkybdky")
# Listed, not a property of characters: the database function `search_text` has the same class.
_SEPARATORS: Final = re.compile(
    "[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u02b0-\u02ff\u2000-\u206f\u20a0-\u20cf"
    "\u2190-\u2bff\u3000-\u303f\ufe00-\ufe0f\ufe30-\ufe4f\U0001f000-\U0001faff]+"
)


Condition = Literal["new", "like_new", "good", "fair"]


@dataclass(frozen=True, slots=True)
class Product:
    """A product as its merchant edits it. `images` are image ids in display order; the price is in kobo.

    With options, price and stock are those of its active variants: the lowest, and the sum.
    """

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
    hidden: bool = False
    options: tuple[Option, ...] = ()
    condition: Condition = "new"

    @property
    def is_listed(self) -> bool:
        return not self.draft and not self.removed and not self.hidden

    def changed(self, **fields: Any) -> "Product":
        """Return the product with new values, and with the next revision if any value differs."""
        after = replace(self, **fields)
        return after if after == self else replace(after, revision=self.revision + 1)

    def with_variants(self, options: Sequence[Option], variants: Sequence[Variant]) -> "Product":
        """Return the product with these variants, and with the next revision; without variants it keeps price and
        stock.
        """
        active = [variant for variant in variants if variant.active]
        return replace(
            self,
            options=tuple(options),
            price_minor=min((variant.price_minor for variant in active), default=self.price_minor),
            stock=sum(variant.stock for variant in active) if active else self.stock,
            revision=self.revision + 1,
        )

    def with_image(self, image_id: UUID) -> "Product":
        """Return the product with the image added; unchanged when it has the image. Raises TooManyImages (409)."""
        if str(image_id) in self.images:
            return self
        if len(self.images) >= IMAGES_MAX:
            raise TooManyImages
        return self.changed(images=(*self.images, str(image_id)))

    def without_image(self, image_id: UUID) -> "Product":
        """Return the product without the image; unchanged when it does not have the image."""
        return self.changed(images=tuple(name for name in self.images if name != str(image_id)))


def check_priced(product: Product, fields: Mapping[str, Any], *, repeats: bool) -> None:
    """Reject a price or a stock for a product with variants; with `repeats`, only one that is not the product's.

    Raises PricedByVariants (422).
    """
    names = {"price_minor": "priceMinor", "stock": "stock"}
    given = [
        public
        for name, public in names.items()
        if name in fields and not (repeats and fields[name] == getattr(product, name))
    ]
    if product.options and given:
        raise PricedByVariants(given)


def check_writable(own: Product | None, visible_vendor_id: UUID | None, revision: int | None) -> Product:
    """Return the caller's own product, if it may be changed at the revision that the caller read.

    `visible_vendor_id` is the vendor of the product that the caller sees under this id, if any. Raises NotFound (404)
    for an invisible product, ForeignProduct (403) for another vendor's listed product, ProductRemoved and StaleRevision
    (409).
    """
    if own is None:
        raise NotFound if visible_vendor_id is None else ForeignProduct
    if own.removed:
        raise ProductRemoved
    if revision is not None and revision != own.revision:
        raise StaleRevision
    return own


def normalize_category(text: str) -> str:
    """Return the canonical name of a category: lower case, with single spaces between words."""
    return " ".join(text.split()).lower()


def normalize_text(text: str) -> str:
    """Return the text for a search: without accents and compatibility forms, and with small Latin letters.

    The database function `plain` does the same. It also lowers the letters that its locale knows, as `to_tsquery`
    does.
    """
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", bare).translate(_LOWER_CASE)


def search_text(text: str) -> str:
    """Return the words of a text as they are indexed, with single spaces: `Rice/Beans` has two.

    The database function `search_text` does the same for what is indexed.
    """
    return _SEPARATORS.sub(" ", normalize_text(text).translate(_HOOKED)).strip()


def search_words(text: str) -> list[str]:
    """Return the words of a search, at most eight: more words match no name and cost more."""
    return search_text(text).split()[:_SEARCH_WORDS_MAX]
