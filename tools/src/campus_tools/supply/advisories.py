"""Check every locked requirement against public advisories, with pip-audit.

pip-audit ends with 0 when the service does not know a requirement, and with 1 both for a finding and for an unavailable
service. Here only a requirement that was looked up and has no advisory is clean.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any, Final

from campus_tools.supply.lock import LOCK, Requirement

SERVICES: Final = ("osv", "pypi")
_SECONDS_MAX: Final = 600
"""Seconds for all requests, one for each of 150 requirements. A service with 4 s per request counts as unavailable."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A known vulnerability of a locked requirement."""

    name: str
    version: str
    advisory: str
    mended_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AdvisoryReport:
    """The findings; every requirement was looked up."""

    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class AdvisoriesUnavailable:
    """The service did not respond for all requirements, so the result is unknown."""

    why: str


def query_advisories(requirements: list[Requirement], service: str) -> AdvisoryReport | AdvisoriesUnavailable:
    """Look up every requirement in one advisory service."""
    command = [
        sys.executable, "-m", "pip_audit", "--requirement", str(LOCK), "--require-hashes", "--disable-pip",
        "--vulnerability-service", service, "--format", "json", "--progress-spinner", "off",
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return AdvisoriesUnavailable(f"no response within {_SECONDS_MAX} s")
    return parse_report(done.stdout, done.stderr, requirements)


def parse_report(stdout: str, stderr: str, requirements: list[Requirement]) -> AdvisoryReport | AdvisoriesUnavailable:
    """Parse pip-audit's output about these requirements."""
    try:
        entries: list[dict[str, Any]] = json.loads(stdout)["dependencies"]
    except (ValueError, KeyError, TypeError):
        return AdvisoriesUnavailable((stderr.strip().splitlines() or ["no output"])[-1])
    skipped = [entry["skip_reason"] for entry in entries if "skip_reason" in entry]
    if skipped:
        return AdvisoriesUnavailable(f"{len(skipped)} of {len(entries)} were not looked up, the first: {skipped[0]}")
    reported = {(_plain(entry["name"]), entry["version"]) for entry in entries}
    missing = [line.name for line in requirements if (_plain(line.name), line.version) not in reported]
    if missing or not requirements:
        return AdvisoriesUnavailable(f"nothing was said about {', '.join(missing) or 'anything'}")
    return AdvisoryReport(
        tuple(
            Finding(entry["name"], entry["version"], weakness["id"], tuple(weakness["fix_versions"]))
            for entry in entries
            for weakness in entry["vulns"]
        )
    )


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
