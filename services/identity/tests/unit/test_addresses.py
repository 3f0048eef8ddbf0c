"""Addresses in their normal forms (contract section 10)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from identity.domain.addresses import domain_of, has_address_form, is_email, normal_email
from identity.domain.mailboxes import mailbox_of
from identity.schemas.codes import SendCodeRequest


@pytest.mark.parametrize(
    ("typed", "normal"),
    [
        (" Tola@UNILAG.edu.ng\n", "tola@unilag.edu.ng"),
        ("tola@\u212anust.edu.gh", "tola@\u212anust.edu.gh"),
        ("T\u0130@X.com", "t\u0130@x.com"),
        ("\u00c9mile@UNILAG.edu.ng", "\u00c9mile@unilag.edu.ng"),
    ],
)
def test_an_address_is_lowered_only_where_lowering_is_harmless(typed: str, normal: str) -> None:
    assert normal_email(typed) == normal


@pytest.mark.parametrize("address", ["a@b.co", "a.b+c@x-y.edu.ng", "o'neil@unilag.edu.ng", "a" * 64 + "@b.co"])
def test_an_address_that_mail_reaches_is_one(address: str) -> None:
    assert is_email(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "a",
        "@b.co",
        "a@",
        "a@b",
        "a@b.co.",
        "a@.b.co",
        "a@b..co",
        "a@-b.co",
        "a b@b.co",
        "a@b.co\n",
        ".a@b.co",
        "a..b@b.co",
        '"a b"@b.co',
        "a@b@c.co",
        "a@b_c.co",
        "\u00e9@b.co",
        "a@\u00e9.co",
        "a" * 65 + "@b.co",
        "a@" + "b" * 64 + ".co",
    ],
)
def test_what_is_no_plain_address_is_none(address: str) -> None:
    assert not is_email(address)


@pytest.mark.parametrize(
    "address",
    [
        "a@b",
        "a@b.co.",
        '"a b"@b.co',
        "\u00e9@b.co",
        "a@\u00e9.co",
        "a@b@c.co",
        "a(tag)@b.co",
        "a" * 65 + "@b.co",
    ],
)
def test_an_unusual_address_is_an_address(address: str) -> None:
    assert has_address_form(address)


@pytest.mark.parametrize(
    "address",
    [
        "",
        "a",
        "@",
        "@b.co",
        "a@",
        "a b@b.co",
        "a@b .co",
        '"a b@b.co',
        '" @b.co',
        "a@b.co\n.d",
        "a\x00@b.co",
        "a@\u2028b.co",
    ],
)
def test_what_no_mail_could_be_sent_to_is_no_address(address: str) -> None:
    assert not has_address_form(address)


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_has_an_response_and_a_domain_is_always_plain(text: str) -> None:
    address = normal_email(text)
    domain = domain_of(address)
    has_address_form(address)
    mailbox_of(address)
    assert domain is None or (domain.isascii() and domain == domain.lower() and not domain.endswith("."))


@pytest.mark.parametrize("text", ["+2348030000001 ext. 5", "0803FLOWERS", ""])
def test_a_text_that_is_no_number_is_rejected(text: str) -> None:
    with pytest.raises(ValidationError):
        SendCodeRequest(phone=text)


@pytest.mark.parametrize("text", ["0803\u2011000\u20110001", "\u202a+234 803 000 0001\u202c", "00234 803 000 0001"])
def test_a_number_is_accepted_as_users_paste_it(text: str) -> None:
    assert SendCodeRequest(phone=text).phone == "+2348030000001"
