"""`bills` writes the bill of materials of each image; `advisories` checks locked requirements for known
vulnerabilities.

Exit status 1: a vulnerability is known; 2: the advisories are unavailable.
"""

import argparse
import sys
from pathlib import Path

from campus_tools.supply.advisories import SERVICES, AdvisoriesUnavailable, known_advisories
from campus_tools.supply.bill import FOLDER, UNRELEASED, write_bills
from campus_tools.supply.lock import LOCK, ROOT, requirements_in

_UNSAFE, _UNAVAILABLE = 1, 2


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m campus_tools.supply", description=__doc__)
    kinds = parser.add_subparsers(dest="what", required=True)
    bills = kinds.add_parser("bills", help="CycloneDX 1.6, one file for each image")
    bills.add_argument("--folder", type=Path, default=FOLDER)
    bills.add_argument("--version", default=UNRELEASED, help="of the release")
    advisories = kinds.add_parser("advisories", help="by pip-audit and npm, about every package of each lock")
    advisories.add_argument("--service", choices=SERVICES, default=SERVICES[0], help="of pip-audit")
    options = parser.parse_args()
    return _write(options.folder, options.version) if options.what == "bills" else _check(options.service)


def _write(folder: Path, version: str) -> int:
    for path in write_bills(folder, version):
        print(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
    return 0


def _check(service: str) -> int:
    reports = known_advisories(service, requirements_in(LOCK.read_text()))
    for lock, report in reports.items():
        if isinstance(report, AdvisoriesUnavailable):
            print(f"{lock}: NOT CHECKED: {report.why}", file=sys.stderr)
            continue
        for finding in report.findings:
            mended = ", ".join(finding.mended_in) or "no version yet"
            print(f"{lock}: {finding.name} {finding.version}: {finding.advisory}, fixed in {mended}")
        print(f"{lock}: {len(report.findings)} advisories")
    if any(not isinstance(report, AdvisoriesUnavailable) and report.findings for report in reports.values()):
        return _UNSAFE
    return _UNAVAILABLE if any(isinstance(report, AdvisoriesUnavailable) for report in reports.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
