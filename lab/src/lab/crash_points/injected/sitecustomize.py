"""Loaded by every Python process whose PYTHONPATH names this folder: a service's process observes its own effects.

Nothing of the product knows of it. `lab.crash_points.killing` chooses the point.
"""

import os
import sys

_MODULE = 2
if (
    os.environ.get("PYTHON_CRASH_FOLDER")
    and sys.orig_argv[1:2] == ["-m"]
    and sys.orig_argv[_MODULE + 1 :] in (["api"], ["worker"])
):
    from lab.crash_points.crashing_process import observe_this_process

    observe_this_process(sys.orig_argv[_MODULE], sys.orig_argv[_MODULE + 1], os.environ["PYTHON_CRASH_FOLDER"])
