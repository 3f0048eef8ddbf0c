"""Servers whose accounts tests may change."""

from collections.abc import Iterator

import pytest

from campus_tools.launcher.ports import free_port_base
from campus_tools.servers import Servers, start_servers


@pytest.fixture(scope="session")
def own_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Servers of our own: provisioning changes passwords that the other tests' servers share."""
    found = start_servers(tmp_path_factory.mktemp("provision"), free_port_base(), environment={})
    yield found
    found.stop()
    found.remove_data()
