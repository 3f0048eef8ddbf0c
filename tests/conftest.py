"""Fixtures of all tests of the whole system: pytest starts it once for the folders that use it."""

from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from tests.running_system import issuers, responses, system, unused_codes, users

__all__ = ["issuers", "responses", "system", "unused_codes", "users"]


class OneSystem(LoadFileScheduling):
    """A file stays in one worker, and so do those of tests/resilience, whose system each worker would start."""

    def _split_scope(self, nodeid: str) -> str:
        folder = "tests/resilience"
        return folder if nodeid.startswith(f"{folder}/") else super()._split_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneSystem | None:
    """Return the scheduler of `--dist loadfile`."""
    return OneSystem(config, log) if config.getvalue("dist") == "loadfile" else None
