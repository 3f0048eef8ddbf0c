"""A merchant's product: its revisions, its images and who changes it (contract section 11.1)."""

from dataclasses import replace

import pytest

from common.primitives.ids import new_id
from common.primitives.problems import NotFound, StaleRevision
from orders.domain.errors import ForeignProduct, ProductRemoved, TooManyImages
from orders.domain.products import Product, check_writable, normalize_category, normalize_text, search_words

IMAGES = [new_id() for _ in range(9)]
PRODUCT = Product(
    id=new_id(),
    vendor_id=new_id(),
    campus_id=new_id(),
    name="Jollof Rice",
    description="",
    category="meals",
    price_minor=150_000,
    stock=10,
    images=(),
    draft=False,
    removed=False,
    revision=4,
)


def with_images(count):
    return replace(PRODUCT, images=tuple(str(image_id) for image_id in IMAGES[:count]))


@pytest.mark.parametrize(
    ("draft", "removed", "is_listed"),
    [(False, False, True), (True, False, False), (False, True, False), (True, True, False)],
)
def test_a_product_is_listed_unless_it_is_a_draft_or_removed(draft: bool, removed: bool, is_listed: bool) -> None:
    assert replace(PRODUCT, draft=draft, removed=removed).is_listed is is_listed


def test_a_change_increments_the_revision_once() -> None:
    assert PRODUCT.changed(stock=9, price_minor=140_000) == replace(PRODUCT, stock=9, price_minor=140_000, revision=5)


def test_a_change_without_effect_keeps_the_revision() -> None:
    assert PRODUCT.changed(stock=10) == PRODUCT


def test_an_eighth_image_is_added_and_a_ninth_is_rejected() -> None:
    assert with_images(7).with_image(IMAGES[7]) == replace(with_images(8), revision=5)
    with pytest.raises(TooManyImages):
        with_images(8).with_image(IMAGES[8])


def test_an_image_is_added_once() -> None:
    assert with_images(8).with_image(IMAGES[7]) == with_images(8)


def test_an_image_is_removed_without_the_others() -> None:
    assert with_images(3).without_image(IMAGES[2]) == replace(with_images(2), revision=5)
    assert with_images(3).without_image(IMAGES[4]) == with_images(3)


@pytest.mark.parametrize("revision", [4, None])
def test_a_merchant_changes_their_product_at_the_revision_that_they_read(revision: int | None) -> None:
    assert check_writable(PRODUCT, PRODUCT.vendor_id, revision) == PRODUCT


@pytest.mark.parametrize(
    ("own", "visible_vendor_id", "revision", "error"),
    [
        (None, None, None, NotFound),
        (None, new_id(), None, ForeignProduct),
        (PRODUCT, PRODUCT.vendor_id, 3, StaleRevision),
        (PRODUCT, PRODUCT.vendor_id, 5, StaleRevision),
        (replace(PRODUCT, removed=True), None, 4, ProductRemoved),
    ],
)
def test_no_other_product_or_revision_is_changed(own, visible_vendor_id, revision, error) -> None:
    with pytest.raises(error):
        check_writable(own, visible_vendor_id, revision)


def test_a_category_has_one_spelling() -> None:
    assert normalize_category("  Hot   MEALS ") == "hot meals"


@pytest.mark.parametrize(
    ("text", "normal"), [("Ọ̀bẹ̀ Ata", "obe ata"), ("CAFÉ", "cafe"), ("\N{LATIN SMALL LIGATURE FI}sh", "fish")]
)
def test_a_text_is_searched_without_case_accents_and_compatibility_forms(text: str, normal: str) -> None:
    assert normalize_text(text) == normal


def test_a_search_has_at_most_eight_words() -> None:
    assert search_words("Jollof_rice, (CAFÉ)!") == ["jollof", "rice", "cafe"]
    assert search_words("a b c d e f g h") == ["a", "b", "c", "d", "e", "f", "g", "h"]
    assert search_words("a b c d e f g h i") == ["a", "b", "c", "d", "e", "f", "g", "h"]
