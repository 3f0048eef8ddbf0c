"""The campus of an address: the longest matching suffix of the mail domain, on label boundaries
(contract section 10).
"""

import json
import re
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.demo import CAMPUSES
from identity.app import read_institutions
from identity.domain.addresses import normal_email
from testkit.cases import for_each

INSTITUTIONS = read_institutions()
ENTRIES = json.loads((files("identity") / "data" / "university-domains.json").read_text(encoding="utf-8"))
NAME_BY_DOMAIN = {domain: entry["name"] for entry in ENTRIES for domain in entry["domains"]}


def campus_name(address: str) -> str | None:
    found = INSTITUTIONS.institution_of(normal_email(address))
    return found.name if found else None


def expected_name(domain: str) -> str | None:
    """Return the rule in another form: compare the last labels of a plain host name with those of every institution."""
    labels = domain.lower().split(".") if domain.isascii() else [""]
    if not all(re.fullmatch(r"(?!-)[a-z0-9-]{1,63}(?<!-)", label, re.ASCII) for label in labels):
        return None
    suffixes = [".".join(labels[start:]) for start in range(len(labels))]
    return next((NAME_BY_DOMAIN[suffix] for suffix in suffixes if suffix in NAME_BY_DOMAIN), None)


def test_there_are_224_institutions_and_each_is_found_by_all_its_domains() -> None:
    assert len(ENTRIES) == 224
    campus_ids = {INSTITUTIONS.institution_of(f"a@{entry['domains'][0]}") for entry in ENTRIES}
    assert len(campus_ids) == 224
    for domain, name in NAME_BY_DOMAIN.items():
        for form in (domain, domain.upper(), f"student.{domain}", f"live.mail.{domain}"):
            assert campus_name(f"Fresher+first.year@{form}") == name


def test_the_longest_suffix_has_priority() -> None:
    general = INSTITUTIONS.institution_of("a@nwu.ac.za")
    student = INSTITUTIONS.institution_of("a@student.g.nwu.ac.za")
    deeper = INSTITUTIONS.institution_of("a@mail.student.g.nwu.ac.za")
    assert general is not None
    assert student is not None
    assert deeper == student
    assert (general.domain, student.domain) == ("nwu.ac.za", "student.g.nwu.ac.za")


def test_an_institution_has_one_campus_under_all_its_domains() -> None:
    assert INSTITUTIONS.institution_of("a@uct.ac.za") == INSTITUTIONS.institution_of("a@myuct.ac.za")


def test_the_campuses_of_the_demo_data_have_the_ids_of_the_contract() -> None:
    for campus in CAMPUSES:
        institution = INSTITUTIONS.institution_of(f"a@{campus.domain}")
        assert institution is not None
        assert (institution.campus_id, institution.name) == (campus.id, campus.name)


@for_each(
    "domain",
    [
        "unilag.edu.ng.evil.com",
        "evilunilag.edu.ng",
        "evil-unilag.edu.ng",
        "unilag.edu.ng.",
        ".unilag.edu.ng",
        "student..unilag.edu.ng",
        "-.unilag.edu.ng",
        "unilag.edu.ng-",
        "unilag_edu.ng",
        "unilag.edu",
        "edu.ng",
        "ng",
        "unil\u0430g.edu.ng",
        "\uff55nilag.edu.ng",
        "unilag\uff0eedu\uff0eng",
        "unilag\u3002edu.ng",
        "unilag.edu.ng\u200b",
        "\u212anust.edu.gh",
        "xn--unilg-8ve.edu.ng",
        "unilag.edu.xn--ng-",
        "[unilag.edu.ng]",
        "unilag.edu.ng>",
        "unilag.edu.ng:25",
        "unilag.edu.ng/evil.com",
        "unilag.edu.ng\x00",
        "unilag%2eedu.ng",
    ],
)
def test_a_similar_domain_is_no_institution(domain: str) -> None:
    assert campus_name(f"a@{domain}") is None


@pytest.mark.parametrize("local", ["a", "a+tag", '"a@ui.edu.ng"', "\u00c9mile", '"a b"'])
def test_the_local_part_of_an_address_decides_no_campus(local: str) -> None:
    assert campus_name(f"{local}@unilag.edu.ng") == "University of Lagos"
    assert campus_name(f"{local}@gmail.com") is None


def test_an_address_with_two_at_signs_is_invalid_and_selects_no_campus() -> None:
    assert campus_name("a@evil.com@unilag.edu.ng") is None
    assert campus_name("a@ui.edu.ng@unilag.edu.ng") is None


TRUE_DOMAINS = st.sampled_from(sorted(NAME_BY_DOMAIN))
NEAR = st.text(alphabet="abz09.-_@ \u0430\uff0e\u200b", max_size=6)


@settings(deadline=None, max_examples=300)
@given(NEAR, TRUE_DOMAINS, NEAR, st.integers(0, 20), st.booleans())
def test_only_a_true_suffix_selects_a_campus(before: str, domain: str, after: str, cut: int, upper: bool) -> None:
    text = before.replace("@", "") + (domain[cut:] or domain) + after.replace("@", "")
    text = (text.upper() if text.isascii() and upper else text).strip()
    assert campus_name(f"a@{text}") == expected_name(text)


@settings(deadline=None, max_examples=300)
@given(st.text(max_size=60))
def test_any_text_selects_the_campus_of_its_true_suffix_or_none(text: str) -> None:
    domain = normal_email(f"a@{text}").partition("@")[2]
    # With a second `@` it is no host name, and the address has no campus.
    assert campus_name(f"a@{text}") == expected_name(domain)
