"""The Postman collection has every operation once, and its reference never ends its own session."""

import json
import re

from campus_tools.documents.files import PAGES
from campus_tools.documents.postman import REFERENCE, SINGLE, collection
from campus_tools.documents.postman_journey import FOLDER
from campus_tools.documents.requests_shown import requests_of
from tests.architecture.sources import ROOT

REQUESTS = list(requests_of(json.loads((ROOT / PAGES / "openapi.json").read_text())))
COLLECTION = collection(REQUESTS)
FOLDERS = {folder["name"]: folder for folder in COLLECTION["item"]}
# Variables that Postman itself fills.
DYNAMIC = {"$guid"}


def paths_in(folder: str) -> list[tuple[str, str]]:
    return [
        (
            item["request"]["method"],
            re.sub(r":(\w+)", r"{\1}", item["request"]["url"]["raw"].removeprefix("{{baseUrl}}")),
        )
        for tag in FOLDERS[folder]["item"]
        for item in tag["item"]
    ]


def test_every_operation_is_in_the_collection_once() -> None:
    assert sorted(paths_in(REFERENCE) + paths_in(SINGLE)) == sorted((one.method, one.path) for one in REQUESTS)


def test_the_reference_does_not_end_its_session() -> None:
    ending = {
        ("POST", "/api/auth/logout"),
        ("POST", "/api/auth/logout-all"),
        ("DELETE", "/api/auth/sessions/{session_id}"),
        ("POST", "/api/auth/password/change"),
        ("POST", "/api/auth/password/reset"),
        ("DELETE", "/api/profiles/current"),
        ("GET", "/api/notifications/stream"),
    }
    assert set(paths_in(SINGLE)) == ending


def test_every_variable_is_declared() -> None:
    declared = {variable["key"] for variable in COLLECTION["variable"]}
    text = json.dumps(COLLECTION["item"])
    assert set(re.findall(r"{{(\$?\w+)}}", text)) <= declared | DYNAMIC
    assert set(re.findall(r'keep\(\\"(\w+)\\"', text)) <= declared


def test_every_step_of_the_journey_asserts() -> None:
    scripts = [json.dumps(item["event"]) for item in FOLDERS[FOLDER]["item"]]
    assert all("pm.test(" in script and "setNextRequest(null)" in script for script in scripts)
