"""The alert rules and dashboards of deploy/observability, as Prometheus and Grafana read them."""

import json
from pathlib import Path
from typing import Any, Final, Literal

import yaml

Severity = Literal["SEV-1", "SEV-2", "SEV-3"]
# Response time of the on-call staff by severity (specification: payout failure handling; all alerts use it).
RESPONSE: Final[dict[Severity, str]] = {"SEV-1": "15 minutes", "SEV-2": "1 hour", "SEV-3": "4 hours"}
FOLDER: Final = Path(__file__).parents[4] / "deploy" / "observability"


def rules() -> list[dict[str, Any]]:
    """Return all rules of Prometheus: those with `record`, and those with `alert`."""
    files = (
        yaml.load(path.read_text(), yaml.CSafeLoader) for path in sorted((FOLDER / "prometheus/rules").glob("*.yml"))
    )
    return [rule for file in files for group in file["groups"] for rule in group["rules"]]


def alerts() -> list[dict[str, Any]]:
    """Return the rules that raise alerts."""
    return [rule for rule in rules() if "alert" in rule]


def dashboards() -> list[dict[str, Any]]:
    """Return the dashboards of Grafana."""
    return [json.loads(path.read_text()) for path in sorted((FOLDER / "grafana/dashboards").glob("*.json"))]
