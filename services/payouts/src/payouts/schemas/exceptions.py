"""Request bodies of exceptions."""

from typing import Annotated

from pydantic import StringConstraints

from common.web.schemas import RequestBody
from contracts.severities import Severity
from payouts.domain.severity import Cause

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


class ClassifyExceptionRequest(RequestBody):
    severity: Severity
    cause: Cause
    note: _Text


class CloseExceptionRequest(RequestBody):
    evidence: _Text
