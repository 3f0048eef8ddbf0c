"""Grafana dashboards and their panels as JSON."""

from dataclasses import dataclass
from typing import Any, Final

from campus_tools.observability.objectives import WEBHOOK_ROUTES
from campus_tools.observability.rules import USER_REQUESTS

SOURCE: Final = {"type": "prometheus", "uid": "campus-prometheus"}
_WIDTH: Final = 24
_HEIGHT: Final = 8


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: expressions by legend. `single` shows the current value only; a value above `threshold` is red."""

    title: str
    expressions: dict[str, str]
    unit: str = "short"
    single: bool = False
    threshold: float | None = None
    width: int = 8


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page of panels, laid out from left to right."""

    uid: str
    title: str
    panels: tuple[Panel, ...]


def ratio(over: str, narrowed: str, by: str) -> str:
    return f"sum by ({by}) (rate({over}{{{narrowed}}}[5m])) / sum by ({by}) (rate({over}[5m]))"


def faults(by: str) -> str:
    faults = f'http_request_seconds_count{{status=~"5..",{USER_REQUESTS}}}'
    requests = f"http_request_seconds_count{{{USER_REQUESTS}}}"
    return f"sum by ({by}) (rate({faults}[5m])) / sum by ({by}) (rate({requests}[5m]))"


def quantile(quantile: float, name: str, by: str, narrowed: str = "") -> str:
    return f"histogram_quantile({quantile}, sum by ({by}, le) (rate({name}_bucket{narrowed}[5m])))"


def minor(expression: str) -> str:
    """Kobo as naira."""
    return f"{expression} / 100"


NAIRA: Final = "currency:₦"
WEBHOOK_ROUTE: Final = f'{{route=~"{WEBHOOK_ROUTES}"}}'


def dashboard_json(dashboard: Dashboard) -> dict[str, Any]:
    """Return the dashboard as Grafana reads it from a file."""
    across = down = 0
    panels = []
    for number, panel in enumerate(dashboard.panels, start=1):
        if across + panel.width > _WIDTH:
            across, down = 0, down + _HEIGHT
        place = {"x": across, "y": down, "w": panel.width, "h": _HEIGHT}
        panels.append(_panel_json(panel, number, place))
        across += panel.width
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "tags": ["campus"],
        "timezone": "utc",
        "editable": False,
        "refresh": "30s",
        "schemaVersion": 39,
        "time": {"from": "now-6h", "to": "now"},
        "links": [{"type": "dashboards", "tags": ["campus"], "asDropdown": False, "title": "", "keepTime": True}],
        "panels": panels,
    }


def _panel_json(panel: Panel, number: int, place: dict[str, int]) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.threshold is not None:
        steps.append({"color": "red", "value": panel.threshold})
    custom: dict[str, Any] = {} if panel.single else {"thresholdsStyle": {"mode": "line" if len(steps) > 1 else "off"}}
    return {
        "id": number,
        "title": panel.title,
        "type": "stat" if panel.single else "timeseries",
        "datasource": SOURCE,
        "gridPos": place,
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "min": 0,
                "thresholds": {"mode": "absolute", "steps": steps},
                "custom": custom,
            },
            "overrides": [],
        },
        "targets": [
            {"refId": chr(ord("A") + place_in), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
            for place_in, (legend, expression) in enumerate(panel.expressions.items())
        ],
    }
