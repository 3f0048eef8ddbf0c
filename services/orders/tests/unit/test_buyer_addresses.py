import pytest

from orders.domain.buyer_addresses import AddressHashes

HASHES = AddressHashes(b"k" * 32)


def test_an_address_is_found_in_any_case() -> None:
    assert HASHES.of_email(" Ada@Unilag.edu.ng") == HASHES.of_email("ada@unilag.edu.ng")


@pytest.mark.parametrize("typed", ["08031234567", "0803 123 4567", "+234 (803) 123-4567", "002348031234567"])
def test_a_number_is_found_in_the_forms_that_users_write(typed: str) -> None:
    assert HASHES.of_phone(typed) == HASHES.of_phone("+2348031234567")


@pytest.mark.parametrize("text", [None, "", "jollof rice", "0", "CM-7K3M-9QZ2", "+12", "1234567"])
def test_any_other_text_is_no_address(text: str | None) -> None:
    assert HASHES.of_email(text) is None
    assert HASHES.of_phone(text) is None


def test_another_key_gives_another_hash() -> None:
    assert AddressHashes(b"other" * 8).of_email("a@b.c") != HASHES.of_email("a@b.c")
