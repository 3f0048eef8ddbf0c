"""The dashboards, one file each."""

from typing import Final

from campus_tools.observability.dashboards.edge import EDGE
from campus_tools.observability.dashboards.money import MONEY
from campus_tools.observability.dashboards.overview import OVERVIEW
from campus_tools.observability.dashboards.panels import SOURCE, dashboard_json
from campus_tools.observability.dashboards.payouts import PAYOUTS
from campus_tools.observability.dashboards.queues import QUEUES
from campus_tools.observability.dashboards.webhooks import WEBHOOKS

DASHBOARDS: Final = (OVERVIEW, EDGE, MONEY, WEBHOOKS, PAYOUTS, QUEUES)

__all__ = ["DASHBOARDS", "SOURCE", "dashboard_json"]
