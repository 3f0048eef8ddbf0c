"""Servers whose accounts tests may change, and the server of the operators' command line."""

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from campus_tools.launcher.ports import free_port_base
from campus_tools.servers import Servers, start_servers

from .campusctl_double import CODE, PASSWORD, Gateway, call, handler_of


@pytest.fixture(scope="session")
def own_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Servers of our own: provisioning changes passwords that the other tests' servers share."""
    found = start_servers(tmp_path_factory.mktemp("provision"), free_port_base(), environment={})
    yield found
    found.stop()
    found.remove_data()


@pytest.fixture
def gateway(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    gateway = Gateway()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(gateway))
    gateway.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    for name in ("CAMPUS_EMAIL", "CAMPUS_PASSWORD", "CAMPUS_TOTP", "PORT_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("STATE_DIR", str(tmp_path))
    monkeypatch.setenv("CAMPUS_URL", gateway.url)
    yield gateway
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def signed_in(gateway: Gateway) -> Gateway:
    assert call("login", "ops@campus.example", input=f"{PASSWORD}\n{CODE}\n")[0] == 0
    gateway.requests.clear()
    return gateway
