"""What is generated from the code is as fresh as the code."""

from collections import Counter

import pytest

from campus_tools.reference import FOLDER, SERVICES, pages, settings_of

# The number of settings without a meaning or without an example. Write a lower number here; delete a service at 0.
EMPTY_MEANINGS = {}


def empty_meanings() -> Counter[str]:
    """The settings of each service's own, and of common, that lack a meaning or an example."""
    return Counter(
        service if name in settings_of(service).__annotations__ else "common"
        for service in SERVICES
        for name, field in settings_of(service).model_fields.items()
        if not (field.description and field.examples)
    )


@pytest.mark.parametrize("name", ["permissions.md", "events.md", "configuration.md", "metrics.md"])
def test_the_reference_is_fresh(name):
    assert (FOLDER / name).read_text() == pages()[name], "run `make documents`"


@pytest.mark.parametrize("service", ["common", *SERVICES])
def test_every_setting_has_a_meaning_and_an_example(service):
    assert empty_meanings()[service] == EMPTY_MEANINGS.get(service, 0), (
        "write `description` and `examples`, and lower EMPTY_MEANINGS"
    )
