"""Start the whole system, for `make run` and for tests."""

from campus_tools.launcher.failures import StartFailed
from campus_tools.launcher.runtimes import Startup
from campus_tools.launcher.supervisor import SupervisedProcess
from campus_tools.launcher.system import System

__all__ = ["StartFailed", "Startup", "SupervisedProcess", "System"]
