"""Addresses, numbers and the campus that an address tells (contract section 10)."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.demo import CAMPUSES
from identity.app import read_institutions
from identity.domain.addresses import domain_of, e164_or_none, is_email, mailbox_of, normal_email

INSTITUTIONS = read_institutions()


@pytest.mark.parametrize(
    ("typed", "normal"),
    [
        (" Tola@UNILAG.edu.ng\n", "tola@unilag.edu.ng"),
        ("tola@\u212anust.edu.gh", "tola@\u212anust.edu.gh"),
        ("T\u0130@x.com", "T\u0130@x.com"),
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
    ("address", "mailbox"),
    [
        ("tola+shop@unilag.edu.ng", "tola@unilag.edu.ng"),
        ("t.o.l.a@unilag.edu.ng", "t.o.l.a@unilag.edu.ng"),
        ("t.o.l.a+x@googlemail.com", "tola@gmail.com"),
        ("+x@unilag.edu.ng", "+x@unilag.edu.ng"),
    ],
)
def test_all_spellings_of_a_mailbox_are_one(address: str, mailbox: str) -> None:
    assert mailbox_of(address) == mailbox


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("08031234567", "+2348031234567"),
        ("+234 803 123 4567", "+2348031234567"),
        ("+44 20 7946 0958", "+442079460958"),
        ("12", None),
        ("+999123456789", None),
        ("tola", None),
        ("", None),
        (None, None),
    ],
)
def test_a_number_is_kept_in_its_international_form(text: str | None, number: str | None) -> None:
    assert e164_or_none(text) == number


def test_the_longest_suffix_wins() -> None:
    general = INSTITUTIONS.institution_of("a@nwu.ac.za")
    student = INSTITUTIONS.institution_of("a@student.g.nwu.ac.za")
    deeper = INSTITUTIONS.institution_of("a@mail.student.g.nwu.ac.za")
    assert general is not None
    assert student is not None
    assert deeper == student
    assert (general.domain, student.domain) == ("nwu.ac.za", "student.g.nwu.ac.za")


def test_an_institution_has_one_campus_under_all_its_domains() -> None:
    assert INSTITUTIONS.institution_of("a@uct.ac.za") == INSTITUTIONS.institution_of("a@myuct.ac.za")


def test_the_campuses_of_the_demo_data_have_the_ids_that_every_service_knows() -> None:
    for campus in CAMPUSES:
        institution = INSTITUTIONS.institution_of(f"a@{campus.domain}")
        assert institution is not None
        assert (institution.campus_id, institution.name) == (campus.id, campus.name)


@settings(deadline=None)
@given(st.text(max_size=80))
def test_any_text_has_an_answer_and_a_domain_is_always_plain(text: str) -> None:
    address = normal_email(text)
    domain = domain_of(address)
    INSTITUTIONS.institution_of(address)
    mailbox_of(address)
    e164_or_none(text)
    assert domain is None or (domain.isascii() and domain == domain.lower() and not domain.endswith("."))


@settings(deadline=None)
@given(st.text(alphabet="abz.-@", min_size=1, max_size=12))
def test_a_text_put_behind_the_domain_never_keeps_the_campus(tail: str) -> None:
    found = INSTITUTIONS.institution_of(f"a@unilag.edu.ng{tail}")
    assert found is None or tail.endswith(found.domain)
