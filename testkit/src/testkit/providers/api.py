"""The facts of one provider's API: its operations, and its error."""

from dataclasses import dataclass
from typing import Any

from testkit.providers.operations import Operation, operation_of
from testkit.providers.schemas import Schema


@dataclass(frozen=True)
class Api:
    """`source` names the pages or the file that the facts are from. A form is checked as an object of texts."""

    source: str
    operations: tuple[Operation, ...]
    fault: Schema

    def check_request(self, method: str, path: str, body: Any) -> None:
        """Raise Nonconformance."""
        operation_of(self.operations, method, path).check_request({}, body)

    def check_response(self, method: str, path: str, status: int, body: Any) -> None:
        """Raise Nonconformance."""
        operation_of(self.operations, method, path).check_response(status, body, self.fault)
