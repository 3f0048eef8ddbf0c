"""PostgreSQL, RabbitMQ and Redis for `make run` and for the tests."""

from campus_tools.servers.errors import ServerUnavailable
from campus_tools.servers.ports import ServerPorts, held_ports
from campus_tools.servers.provider import Servers, find_servers, start_servers
from campus_tools.servers.server import Server

__all__ = ["Server", "ServerPorts", "ServerUnavailable", "Servers", "find_servers", "held_ports", "start_servers"]
