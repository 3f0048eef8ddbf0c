"""Requests that the gateway forwards, rejects and sheds."""

from typing import Final

from campus_tools.observability.dashboards.panels import Dashboard, Panel, quantile

EDGE: Final = Dashboard(
    "campus-edge",
    "Campus: edge",
    (
        Panel("Requests by status", {"{{status}}": "sum by (status) (rate(gateway_requests_total[5m]))"}, "reqps"),
        Panel("Busiest routes", {"{{route}}": "topk(10, sum by (route) (rate(gateway_requests_total[5m])))"}, "reqps"),
        Panel(
            "Server errors by route",
            {"{{route}}": 'sum by (route) (rate(gateway_requests_total{status=~"5.."}[5m]))'},
            "reqps",
        ),
        Panel(
            "Slowest routes, 95 %",
            {"{{route}}": f"topk(10, {quantile(0.95, 'gateway_request_seconds', 'route')})"},
            "s",
        ),
        Panel(
            "Requests in progress",
            {
                "{{instance}}": "gateway_requests_in_flight",
                "at most {{instance}}": "gateway_requests_in_flight_max",
            },
        ),
        Panel("Rejected: too many in flight", {"{{whose}}": "sum by (whose) (rate(gateway_shed_total[5m]))"}, "reqps"),
        Panel("Rejected by quota", {"tier {{tier}}": "sum by (tier) (rate(gateway_rate_limited_total[5m]))"}, "reqps"),
        Panel(
            "Quota store unavailable",
            {"{{outcome}}": "sum by (outcome) (rate(gateway_quota_store_away_total[5m]))"},
            "reqps",
        ),
        Panel(
            "Services without a response",
            {"{{upstream}}": "sum by (upstream) (rate(gateway_upstream_failures_total[5m]))"},
            "reqps",
        ),
        Panel("Idempotency keys", {"{{found}}": "sum by (found) (rate(gateway_idempotency_total[5m]))"}, "reqps"),
        Panel("Page cache", {"{{found}}": "sum by (found) (rate(gateway_page_cache_total[5m]))"}, "reqps"),
    ),
)
