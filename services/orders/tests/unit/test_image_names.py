"""The ids and files of images."""

from uuid import RFC_4122, UUID

import pytest

from orders.domain.images import files_of, image_id_of

RICE, BEANS = UUID(int=1), UUID(int=2)


@pytest.mark.parametrize(
    ("product_id", "content", "image_id"),
    [
        (RICE, b"a picture", "4ab2b660-05ab-8b99-91cf-cc3ed45d1d89"),
        (BEANS, b"a picture", "2cabe750-e093-802d-a8ba-b747d83f7924"),
        (RICE, b"another", "0e0b1798-56a6-84a3-a8b7-f33ef60c335e"),
        (RICE, b"more", "2dd796c1-34a2-84e7-88d4-0e3a5e39fa76"),
    ],
)
def test_a_file_keeps_its_id_for_one_product_after_an_upgrade(product_id: UUID, content: bytes, image_id: str) -> None:
    assert image_id_of(product_id, content) == UUID(image_id)


@pytest.mark.parametrize("number", range(20))
def test_an_image_id_is_a_uuid_of_version_8(number: int) -> None:
    image_id = image_id_of(RICE, bytes([number]))
    assert (image_id.version, image_id.variant) == (8, RFC_4122)


def test_no_file_of_a_dispute_or_message_has_the_name_of_a_product_image() -> None:
    assert files_of(RICE) == (
        "00000000-0000-0000-0000-000000000001.webp",
        "00000000-0000-0000-0000-000000000001-thumbnail.webp",
        "evidence-00000000-0000-0000-0000-000000000001.webp",
        "message-00000000-0000-0000-0000-000000000001.webp",
    )
