"""The six services and their names."""

from dataclasses import dataclass
from typing import Final

LOGINS: Final = ("a", "b")
"""Each role of processes has two logins: one is in use, the other receives the next password (decision 24)."""


def login_of(role: str, suffix: str) -> str:
    """Return the login that inherits the grants of `role`."""
    return f"{role}_{suffix}"


def other_login(suffix: str) -> str:
    """Return the idle login while `suffix` is in use."""
    return LOGINS[1 - LOGINS.index(suffix)]


@dataclass(frozen=True)
class Service:
    """A service: folder and process name, and import name."""

    name: str
    import_name: str

    @property
    def database(self) -> str:
        return f"campus_{self.import_name}"

    @property
    def owner_role(self) -> str:
        """Owns the database and runs the migrations."""
        return f"{self.database}_owner"

    @property
    def api_role(self) -> str:
        """Holds the grants of the API's logins; subject to row-level security."""
        return f"{self.database}_api"

    @property
    def service_role(self) -> str:
        """Holds the grants of consumers, relays and timers, whose logins bypass row-level security."""
        return f"{self.database}_service"

    @property
    def running_roles(self) -> tuple[str, str]:
        """The roles of the service's processes; each connects with one of two logins."""
        return self.api_role, self.service_role

    @property
    def roles(self) -> tuple[str, str, str]:
        return self.owner_role, self.api_role, self.service_role


SERVICES = (
    Service("api-gateway", "api_gateway"),
    Service("identity", "identity"),
    Service("orders", "orders"),
    Service("payments", "payments"),
    Service("payouts", "payouts"),
    Service("notifications", "notifications"),
)


def service_named(name: str) -> Service:
    """Return the service with this folder or import name.

    Raises:
        LookupError: there is no such service.
    """
    for service in SERVICES:
        if name in (service.name, service.import_name):
            return service
    raise LookupError(f"there is no service {name!r}; there are {', '.join(service.name for service in SERVICES)}")
