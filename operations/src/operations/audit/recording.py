"""Record the result of an audit in the audited system, where `GET /api/audits` shows it (contract section 13.3)."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID, uuid4

import httpx

from common.primitives.inside_tls import inside_client_tls
from operations.audit.findings import KINDS, Report
from operations.audit.report import report_as_json

# What the system accepts of one audit. The worst findings come first, so that the verdict stays.
_FINDINGS_MAX: Final = 500
_TEXT_MAX: Final = 1_000
_SECONDS_MAX: Final = 10.0


class NotRecorded(Exception):
    """The system did not record the audit; its own result holds."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the audit."""

    id: UUID
    started_at: datetime

    @classmethod
    def start(cls) -> "Run":
        return cls(uuid4(), datetime.now(UTC))


async def record_audit(run: Run, report: Report, base_url: str, secrets: Mapping[str, str]) -> None:
    """Send the result to the system's public address with the service key. It is idempotent. Raises NotRecorded."""
    url = f"{base_url.rstrip('/')}/functions/v1/record-audit"
    headers = {"Authorization": f"Bearer {secrets.get('SERVICE_ROLE_KEY', '')}"}
    try:
        async with httpx.AsyncClient(
            headers=headers,
            timeout=_SECONDS_MAX,
            trust_env=False,
            verify=inside_client_tls(os.environ.get("INSIDE_CA_FILE", "")),
        ) as client:
            response = (await client.post(url, json=_body(run, report))).raise_for_status()
        verdict = response.json()["data"]["verdict"]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
        raise NotRecorded(f"{url}: {error or type(error).__name__}") from error
    if verdict != report.verdict:
        raise NotRecorded(f"{url}: recorded as {verdict}, not as {report.verdict}")


def _body(run: Run, report: Report) -> dict[str, Any]:
    findings = sorted(report_as_json(report)["findings"], key=lambda finding: KINDS.index(finding["kind"]))
    return {
        "id": str(run.id),
        "startedAt": run.started_at.isoformat(),
        "finishedAt": datetime.now(UTC).isoformat(),
        "gatewayReason": None if report.not_compared is None else report.not_compared[:_TEXT_MAX],
        "findings": [{name: _text(text) for name, text in finding.items()} for finding in findings[:_FINDINGS_MAX]],
    }


def _text(text: str) -> str:
    """Return the text without what JSON or PostgreSQL cannot hold."""
    return text.replace("\x00", "?").encode("utf-8", "replace").decode()[:_TEXT_MAX]
