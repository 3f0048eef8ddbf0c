"""The severities of exceptions and alerts."""

from typing import Literal

Severity = Literal["SEV-1", "SEV-2", "SEV-3"]
