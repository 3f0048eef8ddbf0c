"""The quota store of the manifest, played by Redis: a renewed certificate is served without a restart."""

import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from campus_tools.launcher.ports import free_port_base
from campus_tools.servers.redis import find_redis
from operations.waiting import eventually
from testkit.certificates import Authority

MANIFEST = Path(__file__).parents[2] / "deploy/k8s/components/valkey/valkey.yaml"
FOLDER = "/etc/campus/tls"


@pytest.fixture
def container() -> dict[str, Any]:
    """Return the container of the manifest."""
    [deployment] = [it for it in yaml.safe_load_all(MANIFEST.read_text()) if it["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return dict(container)


def played(command: list[str], folder: Path, port: int) -> list[str]:
    """Return a command of the manifest for the Redis or Valkey of this machine."""
    server = find_redis(print)
    client = server.removesuffix("-server") + "-cli"
    programs = {"valkey-server": server, "valkey-cli": client, "6379": str(port)}
    words = [programs.get(word, word.replace(FOLDER, str(folder))) for word in command]
    return [*words[:1], "-p", str(port), *words[1:]] if words[0] == client else words


def write_secret(folder: Path, authority: Authority) -> None:
    """Write the files of the Secret, as cert-manager names them."""
    both = authority.issue(folder / "both.pem", "valkey").read_bytes()
    (folder / "ca.crt").write_bytes(authority.pem)
    for name in ("tls.crt", "tls.key"):
        (folder / f"{name}.fresh").write_bytes(both)
        (folder / f"{name}.fresh").replace(folder / name)


@contextmanager
def connected(port: int) -> Iterator[ssl.SSLSocket]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=10) as plain, context.wrap_socket(plain) as encrypted:
        yield encrypted


def served(port: int) -> bytes | None:
    with connected(port) as encrypted:
        return encrypted.getpeercert(binary_form=True)


async def test_the_liveness_probe_lets_the_store_serve_a_renewed_certificate(
    container: dict[str, Any], tmp_path: Path
) -> None:
    authority, port = Authority(), free_port_base()
    write_secret(tmp_path, authority)
    probe = played(container["livenessProbe"]["exec"]["command"], tmp_path, port)

    async def lives() -> bool:
        return subprocess.run(probe, capture_output=True, check=False).returncode == 0

    with subprocess.Popen(played(container["args"], tmp_path, port), stdout=subprocess.DEVNULL) as server:
        try:
            await eventually(lives, what="the store")
            with connected(port) as open_before:
                former = served(port)
                write_secret(tmp_path, authority)
                assert served(port) == former
                assert await lives()
                assert served(port) != former
                open_before.sendall(b"PING\r\n")
                assert open_before.recv(100) == b"+PONG\r\n"
            renewed = served(port)
            (tmp_path / "tls.key").write_text("no key")
            # A file that cannot be used neither ends the store nor replaces what it serves.
            assert await lives()
            assert served(port) == renewed
        finally:
            server.terminate()
    assert not await lives()
