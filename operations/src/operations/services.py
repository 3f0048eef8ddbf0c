"""The six services, as everything in the tools names them."""

from dataclasses import dataclass
from typing import Final

LOGINS: Final = ("a", "b")
"""A role that processes work under has two logins: one is theirs, and the other takes the next password (decision 24)."""


def login_of(role: str, suffix: str) -> str:
    """The account that connects and holds whatever `role` was granted."""
    return f"{role}_{suffix}"


def other_login(suffix: str) -> str:
    """The one that is idle while `letter` is in use."""
    return LOGINS[1 - LOGINS.index(suffix)]


@dataclass(frozen=True)
class Service:
    """One service: its folder and process name, and the name it is imported by."""

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
        """Owns nothing and is held by row-level security. Its logins connect; it only holds the grants."""
        return f"{self.database}_api"

    @property
    def service_role(self) -> str:
        """Consumers, relays and timers act for nobody in particular: the logins of this one pass row-level security."""
        return f"{self.database}_service"

    @property
    def running_roles(self) -> tuple[str, str]:
        """Those that the service's processes work under, each by one of its two logins."""
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
    """The service with this folder or import name.

    Raises:
        LookupError: there is no such service.
    """
    for service in SERVICES:
        if name in (service.name, service.import_name):
            return service
    raise LookupError(f"there is no service {name!r}; there are {', '.join(service.name for service in SERVICES)}")
