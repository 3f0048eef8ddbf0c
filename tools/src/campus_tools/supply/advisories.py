"""Check every locked requirement against public advisories: Python's with pip-audit, npm's with `npm audit`.

pip-audit ends with 0 when the service does not know a requirement, and both end with 1 for a finding and for an
unavailable service. Here only a requirement that was looked up and has no advisory is clean.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from campus_tools.supply.lock import LOCK, ROOT, Requirement

SERVICES: Final = ("osv", "pypi")
NPM_FOLDERS: Final = (
    "clients/typescript", "examples/storefront", "services/identity/tests/oidc_provider", "tools/openapi",
)  # fmt: skip
"""Folders with a `package-lock.json` whose packages are published, or run in CI. The peers of the lab are not."""
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


def query_npm_advisories(folder: Path, *options: str) -> AdvisoryReport | AdvisoriesUnavailable:
    """Look up every package of a folder's lock at npm's registry; `options` are those of `npm audit`."""
    command = ["npm", "audit", "--json", "--package-lock-only", *options]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_SECONDS_MAX)
    except FileNotFoundError:
        return AdvisoriesUnavailable("npm is not installed")
    except subprocess.TimeoutExpired:
        return AdvisoriesUnavailable(f"no response within {_SECONDS_MAX} s")
    return parse_npm_report(done.stdout, done.stderr, npm_packages_of(folder))


def npm_packages_of(folder: Path) -> dict[str, str]:
    """Return the version of each package of a lock by its place, such as `node_modules/vite`."""
    packages: dict[str, dict[str, Any]] = json.loads((folder / "package-lock.json").read_text())["packages"]
    return {place: package["version"] for place, package in packages.items() if place}


def parse_npm_report(stdout: str, stderr: str, packages: dict[str, str]) -> AdvisoryReport | AdvisoriesUnavailable:
    """Parse the output of `npm audit --json` about these packages."""
    try:
        report = json.loads(stdout)
        entries: list[dict[str, Any]] = list(report["vulnerabilities"].values())
        checked: int = report["metadata"]["dependencies"]["total"]
    except (ValueError, KeyError, TypeError):
        return AdvisoriesUnavailable((stderr.strip().splitlines() or ["no output"])[0])
    if checked != len(packages) or not packages:
        return AdvisoriesUnavailable(f"{checked} of {len(packages)} were looked up")
    return AdvisoryReport(
        tuple(
            Finding(entry["name"], packages[place], cause["url"], (f"a version outside {cause['range']}",))
            for entry in entries
            for cause in entry["via"]
            if isinstance(cause, dict)
            for place in entry["nodes"]
        )
    )


def known_advisories(
    service: str, requirements: list[Requirement]
) -> dict[str, AdvisoryReport | AdvisoriesUnavailable]:
    """Return the report of each lock, by its path."""
    return {"requirements.lock": query_advisories(requirements, service)} | {
        f"{folder}/package-lock.json": query_npm_advisories(ROOT / folder) for folder in NPM_FOLDERS
    }


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")
