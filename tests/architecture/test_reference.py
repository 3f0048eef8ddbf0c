"""What is generated from the code is as fresh as the code."""

import pytest

from campus_tools.reference import FOLDER, pages


@pytest.mark.parametrize("name", ["permissions.md", "events.md", "configuration.md", "metrics.md"])
def test_the_reference_is_fresh(name):
    assert (FOLDER / name).read_text() == pages()[name], "run `make documents`"
