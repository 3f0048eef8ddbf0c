"""`campusctl audit --kubernetes`: the audit of every night as a Job, now."""

import json
import sys
import time
from datetime import UTC, datetime
from typing import Final

from operations.audit.findings import Report
from operations.audit.report import report_from_json
from operations.campusctl.exits import Refused
from operations.kubectl import Kubectl

CRON_JOB: Final = "audit"
_POLL_SECONDS: Final = 2.0


def audit_on_cluster(kubectl: Kubectl, settle_seconds: float) -> Report:
    """Run a Job of the CronJob `audit`, which records its result. Return its report. Raises Refused: it gave none."""
    name = f"{CRON_JOB}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    job = json.loads(
        kubectl.call("create", "job", name, f"--from=cronjob/{CRON_JOB}", "--dry-run=client", "-o", "json")
    )
    [container] = job["spec"]["template"]["spec"]["containers"]
    container["args"] = ["--scheduled", "--json", "--settle-seconds", str(settle_seconds)]
    kubectl.call("create", "--validate=false", "-f", "-", stdin=json.dumps(job))
    sys.stderr.write(f"The Job {name} runs: kubectl logs -n {kubectl.namespace} -f job/{name}\n")
    while not (ended := _end_of(kubectl, name)):
        time.sleep(_POLL_SECONDS)
    printed = kubectl.call("logs", f"job/{name}", "--tail=-1")
    if ended != "Complete" or "{\n" not in printed:
        advice = f"kubectl describe job -n {kubectl.namespace} {name}"
        raise Refused(f"The Job {name} gave no report: {printed.strip() or 'its log is empty'}", advice)
    document, _ = json.JSONDecoder().raw_decode(printed, printed.index("{\n"))
    return report_from_json(document)


def _end_of(kubectl: Kubectl, job: str) -> str | None:
    """Return `Complete` or `Failed`, or None while the Job runs."""
    found = kubectl.get("job", job)
    if not found:
        raise Refused(f"The Job {job} was deleted before its end.")
    conditions = found[job].get("status", {}).get("conditions", [])
    ends = [it["type"] for it in conditions if it["status"] == "True" and it["type"] in ("Complete", "Failed")]
    return ends[0] if ends else None
