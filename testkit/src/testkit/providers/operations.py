"""The operations of a provider's HTTP API, and the check of one exchange."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from testkit.providers.schemas import Nonconformance, Schema, conform


@dataclass(frozen=True)
class Operation:
    """One operation: its query parameters, its JSON body, and its responses by status.

    `departures` names each place where these schemas differ from the provider's specification on purpose, and why: a
    documentation page that goes beyond it, or an observed response. Places are `query.<name>`, `body.<path>` and
    `<status>.<path>`.
    """

    method: str
    path: str
    responses: Mapping[int, Schema]
    query: Mapping[str, Schema] = field(default_factory=dict)
    body: Schema | None = None
    departures: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    def fits(self, method: str, path: str) -> bool:
        """Return whether a request is of this operation; a variable of the path is any text without a slash."""
        pattern = re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(self.path))
        return method == self.method and re.fullmatch(pattern, path) is not None

    def check_request(self, query: Mapping[str, str], body: Any) -> None:
        """Raise Nonconformance for an unknown parameter, a value of another type, and another body."""
        for name, text in query.items():
            schema = self.query.get(name)
            if schema is None:
                raise Nonconformance(f"{self.name} has no query parameter {name}")
            is_whole = schema.get("type") == "integer" and text.isdigit()
            conform(int(text) if is_whole else text, schema, f"{self.name}, query {name}")
        if self.body is not None:
            conform(body, self.body, f"{self.name}, request")
        elif body is not None:
            raise Nonconformance(f"{self.name} has no request body")

    def check_response(self, status: int, body: Any, fault: Schema) -> None:
        """Raise Nonconformance; a status of an error that is not listed is checked against `fault`."""
        schema = self.responses.get(status, fault if status >= 400 else None)
        if schema is None:
            raise Nonconformance(f"{self.name} does not response {status}")
        conform(body, schema, f"{self.name}, response {status}")


def operation_of(operations: Iterable[Operation], method: str, path: str) -> Operation:
    """Return the operation of a request; one without a variable wins. Raises Nonconformance for an unknown one."""
    found = [operation for operation in operations if operation.fits(method, path)]
    if not found:
        raise Nonconformance(f"unknown operation {method} {path}")
    return min(found, key=lambda operation: operation.path.count("{"))
