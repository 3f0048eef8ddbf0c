"""`contracts/endpoints.txt`: one line for each endpoint, for the gateway and for readers of diffs (decision 104)."""

from collections.abc import Mapping
from typing import Any

from campus_tools.endpoints import public_routes
from common.web.endpoint_table import head, line_of


def text(document: Mapping[str, Any]) -> str:
    """Return the table. The statuses below 500 come from the OpenAPI document."""
    lines = []
    for route, declared in sorted(public_routes(), key=lambda pair: (pair[0].path, pair[0].method)):
        operation = document["paths"][declared.path_format][route.method.lower()]
        statuses = [int(status) for status in operation["responses"] if status.isdigit() and int(status) < 500]
        lines.append(line_of(route, operation["operationId"], statuses))
    return "\n".join([*head(), *lines]) + "\n"
