"""Starts the whole system: behind `make run`, and as a library for tests."""

from campus_tools.launcher.failures import StartFailed
from campus_tools.launcher.supervisor import SupervisedProcess
from campus_tools.launcher.system import System

__all__ = ["StartFailed", "SupervisedProcess", "System"]
