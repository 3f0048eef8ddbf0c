"""The bills of materials are complete, and a missing report of advisories never counts as clean."""

import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from campus_tools.supply.advisories import (
    NPM_FOLDERS,
    AdvisoriesUnavailable,
    AdvisoryReport,
    Finding,
    npm_packages_of,
    parse_report,
    query_npm_advisories,
)
from campus_tools.supply.bill import IMAGES, bill_of
from campus_tools.supply.lock import LOCK, ROOT, Requirement, part_for, requirements_in

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
    installed = requirements_in(part_for(IMAGES[image]))
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


STOREFRONT = ROOT / "examples/storefront"


@contextmanager
def npm_registry(advisories: dict[str, list[dict[str, object]]] | None) -> Iterator[str]:
    """Serve npm's endpoint of advisories; None: as a registry without it."""

    class Registry(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self._respond(405 if advisories is None else 200, json.dumps(advisories or {}))

        def do_GET(self) -> None:
            self._respond(404, "{}")

        def _respond(self, status: int, body: str) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Silence the log."""

    server = HTTPServer(("127.0.0.1", 0), Registry)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"--registry=http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_every_lock_of_npm_but_those_of_the_peers_is_checked() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "*package-lock.json"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    expected = [path for path in listed if not path.startswith("lab/peers/")]
    assert [f"{folder}/package-lock.json" for folder in NPM_FOLDERS] == expected


@pytest.mark.usefixtures("npm")
def test_npm_reports_an_advisory_of_a_locked_package() -> None:
    advisory = {
        "id": 1, "title": "Files outside of the root", "severity": "high", "vulnerable_versions": "<99.0.0",
        "url": "https://registry.test/GHSA-1", "cwe": [], "cvss": {"score": 7, "vectorString": None},
    }  # fmt: skip
    with npm_registry({"vite": [advisory]}) as registry:
        report = query_npm_advisories(STOREFRONT, registry)
    version = npm_packages_of(STOREFRONT)["node_modules/vite"]
    found = Finding("vite", version, "https://registry.test/GHSA-1", ("a version outside <99.0.0",))
    assert report == AdvisoryReport((found,))


@pytest.mark.usefixtures("npm")
def test_packages_of_npm_without_an_advisory_are_clean() -> None:
    with npm_registry({}) as registry:
        assert query_npm_advisories(STOREFRONT, registry) == AdvisoryReport(())


@pytest.mark.usefixtures("npm")
def test_a_registry_without_advisories_is_no_clean_report() -> None:
    with npm_registry(None) as registry:
        report = query_npm_advisories(STOREFRONT, registry)
    assert isinstance(report, AdvisoriesUnavailable)
    assert "405" in report.why
