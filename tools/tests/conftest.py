"""Small programs for tests of the launcher that are about starting and stopping."""

import os
import shutil
import textwrap
from pathlib import Path

import pytest


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory on the import path of child processes, with the program `small_server` in it.

    It serves readiness on METRICS_PORT, writes its environment to a file next to its log, and exits at the start on
    request.
    """
    directory = tmp_path / "programs"
    directory.mkdir()
    (directory / "small_server.py").write_text(
        textwrap.dedent(
            """
            import http.server, json, os, sys

            if "breaks" in sys.argv:
                print("the mistake is here", flush=True)
                sys.exit(3)

            class Answer(http.server.BaseHTTPRequestHandler):
                def do_GET(self):
                    body = json.dumps(dict(os.environ)).encode()
                    self.send_response(200)
                    self.end_headers()
                    self.wfile.write(body)

            print("serving", *sys.argv[1:], flush=True)
            http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["METRICS_PORT"])), Answer).serve_forever()
            """
        )
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(directory), os.environ.get("PYTHONPATH", "")]).rstrip(":"))
    return directory


@pytest.fixture(scope="session")
def npm() -> None:
    """Skip a test on a machine without Node."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
