"""Findings of a check, each with its remedy."""

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warning", "fault"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `warning`: works, with a risk; `fault`: something will not work. Never holds a secret."""

    state: State
    subject: str
    found: str
    advice: str = ""


def ok(subject: str, found: str) -> Finding:
    return Finding("ok", subject, found)


def warning(subject: str, found: str, advice: str) -> Finding:
    return Finding("warning", subject, found, advice)


def fault(subject: str, found: str, advice: str) -> Finding:
    return Finding("fault", subject, found, advice)


class CheckFailed(Exception):
    """A check cannot go on: its finding."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.found)
        self.finding = finding
