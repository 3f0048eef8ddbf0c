"""The bills of materials are complete, and a missing report of advisories never counts as clean."""

import json
import re

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from campus_tools.supply.advisories import AdvisoriesUnavailable, AdvisoryReport, Finding, parse_report
from campus_tools.supply.bill import IMAGES, bill_of
from campus_tools.supply.lock import LOCK, Requirement, part_for, requirements_in

LOCKED = [Requirement("jinja2", "3.1.6", ("0" * 64,), frozenset({"campus-notifications"}))]
images = pytest.mark.parametrize("image", IMAGES)


@pytest.fixture(scope="module")
def bills():
    return {image: bill_of(image) for image in IMAGES}


@pytest.mark.parametrize("image", ["notifications", "sandbox"])  # the longest, and the one without libs/common
def test_a_bill_is_valid_to_the_last_field(image: str, bills) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bills[image]) is None


def test_a_bill_that_is_not_valid_is_noticed(bills) -> None:
    broken = bills["sandbox"].replace('"type": "library"', '"type": "book"')
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(broken) is not None


def test_the_same_lock_makes_the_same_bill(bills) -> None:
    assert bill_of("payments") == bills["payments"]
    assert len({json.loads(text)["serialNumber"] for text in bills.values()}) == len(IMAGES)


@images
def test_a_bill_names_what_the_image_installs_with_its_hashes_and_nothing_else(image, bills) -> None:
    listed = {
        part["name"]: {entry["content"] for entry in part["externalReferences"][0]["hashes"]}
        for part in json.loads(bills[image])["components"]
        if part.get("purl", "").startswith("pkg:pypi/")
    }
    installed = requirements_in(
        part_for([f"campus-{image}", "campus-common"] if image != "sandbox" else ["campus-sandbox"])
    )
    elsewhere = {"async-timeout", "colorama", "pywin32"}  # for an older Python, and for another system
    assert listed == {line.name: set(line.hashes) for line in installed if line.name not in elsewhere}
    assert all(requirement.hashes for requirement in installed)


@images
def test_every_entry_of_a_bill_is_required_by_another(image, bills) -> None:
    bill = json.loads(bills[image])
    needs = {line["ref"]: line.get("dependsOn", []) for line in bill["dependencies"]}
    reached, ahead = set(), ["image"]
    while ahead:
        if (part := ahead.pop()) not in reached:
            reached.add(part)
            ahead += needs[part]
    assert reached == {"image", *(part["bom-ref"] for part in bill["components"])}


@images
def test_every_package_of_a_bill_has_its_licence(image, bills) -> None:
    components = json.loads(bills[image])["components"]
    packages = [it for it in components if it.get("purl", "").startswith("pkg:pypi/")]
    assert packages
    assert [it["name"] for it in packages if not it.get("licenses")] == []


def test_every_requirement_of_the_lock_is_read() -> None:
    text = LOCK.read_text()
    read = requirements_in(text)
    assert len(read) == len(re.findall(r"^[a-z].*==", text, re.MULTILINE)) > 100
    assert {line.name for line in read if line.marker} == set(re.findall(r"^([a-z0-9-]+)==.* ; ", text, re.MULTILINE))


def output(**more):
    return json.dumps({"dependencies": [{"name": "Jinja2", "version": "3.1.6", "vulns": [], **more}], "fixes": []})


def test_what_was_looked_up_and_has_no_advisory_is_clean() -> None:
    assert parse_report(output(), "", LOCKED) == AdvisoryReport(())


def test_an_advisory_is_reported_with_the_version_that_fixes_it() -> None:
    report = parse_report(output(vulns=[{"id": "PYSEC-1", "fix_versions": ["3.1.7"]}]), "", LOCKED)
    assert report == AdvisoryReport((Finding("Jinja2", "3.1.6", "PYSEC-1", ("3.1.7",)),))


@pytest.mark.parametrize(
    ("stdout", "why"),
    [
        ("", "the name cannot be resolved"),
        ('{"dependencies": []}', "nothing was said about jinja2"),
        (('{"dependencies": [{"name": "jinja2", "skip_reason": "unknown '
        'there"}]}'), "1 of 1 were not looked up, the first: unknown there"),
        (output(version="3.1.5"), "nothing was said about jinja2"),
    ],
)  # fmt: skip
def test_silence_is_no_response(stdout, why: str) -> None:
    assert parse_report(stdout, "a traceback\nthe name cannot be resolved\n", LOCKED) == AdvisoriesUnavailable(why)
