"""Overview of requests, service level objectives and resources."""

from typing import Final

from campus_tools.observability.dashboards.panels import NAIRA, Dashboard, Panel, faults, minor, quantile
from campus_tools.observability.rules import USER_REQUESTS

OVERVIEW: Final = Dashboard(
    "campus-overview",
    "Campus: overview",
    (
        Panel(
            "Processes down",
            {"down": 'sum(up{job="campus"} == bool 0)'},
            single=True,
            threshold=1,
            width=6,
        ),
        Panel(
            "Requests at the edge",
            {"requests": "sum(rate(gateway_requests_total[5m]))"},
            "reqps",
            single=True,
            width=6,
        ),
        Panel(
            "Dead letters",
            {"waiting": "sum(max by (service) (dead_letters_waiting))"},
            single=True,
            threshold=1,
            width=6,
        ),
        Panel(
            "Unexplained",
            {"naira": minor("max(payments_unexplained_minor)")},
            NAIRA,
            single=True,
            threshold=1,
            width=6,
        ),
        Panel("Error ratio of each SLO, 1 h", {"{{slo}}": "slo:error_ratio:rate1h"}, "percentunit"),
        Panel("Error ratio of each SLO, 3 days", {"{{slo}}": "slo:error_ratio:rate3d"}, "percentunit"),
        Panel(
            "Responses of each service",
            {"{{service}}": f"sum by (service) (rate(http_request_seconds_count{{{USER_REQUESTS}}}[5m]))"},
            "reqps",
        ),
        Panel(
            "Server errors of each service",
            {"{{service}}": faults("service")},
            "percentunit",
        ),
        Panel(
            "Response time, 95 %",
            {"{{service}}": quantile(0.95, "http_request_seconds", "service", f"{{{USER_REQUESTS}}}")},
            "s",
        ),
        Panel("Requests in progress", {"{{process}}": "sum by (process) (http_requests_in_flight)"}),
        Panel("Processor", {"{{process}}": "sum by (process) (rate(process_cpu_seconds_total[5m]))"}, "percentunit"),
        Panel("Memory", {"{{process}}": "sum by (process) (process_resident_memory_bytes)"}, "bytes"),
        Panel(
            "Event loop lag",
            {"{{process}}": "max by (process) (event_loop_lag_seconds)"},
            "s",
            threshold=0.1,
        ),
        Panel(
            "Database connections in use",
            {
                "{{process}} {{role}}": 'sum by (process, role) (database_connections{state="in_use"})'
                ' / sum by (process, role) (database_connections{state="max"})'
            },
            "percentunit",
            threshold=1,
        ),
    ),
)
