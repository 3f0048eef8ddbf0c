import pytest

from orders.domain.buyer_addresses import AddressHashes

HASHES = AddressHashes(b"k" * 32)


def test_an_address_is_found_in_any_case() -> None:
    assert HASHES.of_email(" Ada@Unilag.edu.ng") == HASHES.of_email("ada@unilag.edu.ng")
    upper, lower = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"
    assert HASHES.of_email(f"{upper}@UNILAG.EDU.NG") == HASHES.of_email(f"{lower}@unilag.edu.ng")


def test_addresses_that_differ_in_more_than_case_have_different_hashes() -> None:
    addresses = ["ada@a.ng", "adb@a.ng", "[ada@a.ng", "{ada@a.ng", "`ada@a.ng", "@ada@a.ng"]
    assert len({HASHES.of_email(address) for address in addresses}) == 6


def test_a_stored_hash_is_found_after_an_upgrade_of_the_service() -> None:
    email, phone = HASHES.of_email("ada@unilag.edu.ng"), HASHES.of_phone("+2348031234567")
    assert email is not None
    assert phone is not None
    assert email.hex() == "4820e73e0931606faa7300d06f64a9980bb11e071a2f16db970b292f16c77cc2"
    assert phone.hex() == "62949615cec35fe784f736713d97d0b2fddb18b23a5ceded226a5eb6fff358b3"


@pytest.mark.parametrize(
    "typed", ["08031234567", "+234 (803) 123-4567", "002348031234567", "\u202a0803\u00a0123\u20114567\u202c"]
)
def test_a_number_is_found_in_the_forms_that_users_write(typed: str) -> None:
    assert HASHES.of_phone(typed) == HASHES.of_phone("+2348031234567")


@pytest.mark.parametrize("text", [None, "", "jollof rice", "0", "CM-7K3M-9QZ2", "+12", "1234567"])
def test_any_other_text_is_no_address(text: str | None) -> None:
    assert HASHES.of_email(text) is None
    assert HASHES.of_phone(text) is None


def test_another_key_gives_another_hash() -> None:
    assert AddressHashes(b"other" * 8).of_email("a@b.c") != HASHES.of_email("a@b.c")
