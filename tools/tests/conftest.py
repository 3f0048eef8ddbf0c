"""Small programs for tests of the launcher that are about starting and stopping, and servers whose accounts tests may change."""

import os
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from campus_tools.launcher.ports import free_port_base
from campus_tools.servers import Servers, start_servers


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory on the import path of child processes, with the program `small_server` in it.

    It answers readiness on METRICS_PORT, writes its environment beside its log, and dies at the start when told so.
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
def own_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Servers of our own: provisioning changes passwords that the other tests' servers share."""
    found = start_servers(tmp_path_factory.mktemp("provision"), free_port_base(), environment={})
    yield found
    found.stop()
    found.remove_data()
