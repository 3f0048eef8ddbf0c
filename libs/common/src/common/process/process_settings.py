"""The settings of every process that serves HTTP: where it listens, and how it and its system are encrypted."""

import ssl
from collections.abc import Mapping
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from common.primitives.inside_addresses import authorities_of, is_plain_address
from common.primitives.inside_tls import UnusableCertificate, check_authorities, inside_client_tls, server_tls


class ProcessSettings(BaseSettings):
    """The variables of listening and of TLS between processes, and the refusal of plain traffic between machines."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore", env_ignore_empty=True)

    environment: Literal["development", "staging", "production"] = Field(
        default="development",
        description="With `production` a process does not start while the address of a payment, message or push "
        "provider is this machine, a private network or an example",
        examples=["production"],
    )
    host: str = Field(default="127.0.0.1", description="Address on which the process listens", examples=["10.0.0.5"])
    port: int = Field(ge=1, le=65535, description="TCP port on which the process listens", examples=[8081])
    log_level: str = Field(default="INFO", description="Lowest level of log records written", examples=["WARNING"])
    shutdown_drain_seconds: float = Field(
        default=0.0,
        ge=0,
        description="Seconds after the shutdown signal in which new requests are accepted, each as the last of its "
        "connection; for instances behind a load balancer",
        examples=[5],
    )
    network_encrypted: bool = Field(
        default=False,
        description="The operator's network encrypts all traffic between machines (a mesh, WireGuard of the cluster). "
        "Without it a process of `production` does not start while a server or service of the system on another "
        "machine has an address without TLS",
        examples=[True],
    )
    inside_ca_file: str = Field(
        default="",
        description="Certificates (PEM) of the authorities that verify the system's own services at addresses of "
        "https, and no other; empty: the public ones. The addresses of servers name a file themselves: `sslrootcert`, "
        "`cafile` (amqps), `ssl_ca_certs` (rediss). Its content may change without a restart",
        examples=["/etc/campus/tls/ca.crt"],
    )
    inside_certificate_file: str = Field(
        default="",
        description="Certificate (PEM, with its chain) with which the process serves its ports over TLS; empty: "
        "without TLS. Its content may change without a restart",
        examples=["/etc/campus/tls/tls.crt"],
    )
    inside_key_file: str = Field(
        default="",
        description="Private key (PEM) of INSIDE_CERTIFICATE_FILE",
        examples=["/etc/campus/tls/tls.key"],
    )

    @model_validator(mode="after")
    def check_tls_files(self) -> Self:
        """Reject files that cannot be used: UnusableCertificate says which, and why."""
        if bool(self.inside_certificate_file) != bool(self.inside_key_file):
            raise ValueError("INSIDE_CERTIFICATE_FILE and INSIDE_KEY_FILE are set together or not at all")
        _ = self.inside_tls, self.server_tls
        for name, address in self.inside_addresses.items():
            if file := authorities_of(address):
                try:
                    check_authorities(file)
                except UnusableCertificate as error:
                    raise ValueError(f"{name}: {error}") from error
        return self

    @model_validator(mode="after")
    def check_inside_addresses(self) -> Self:
        """Reject plain traffic between machines in production, unless the operator's network encrypts it."""
        if self.environment == "production" and not self.network_encrypted:
            for name, address in self.inside_addresses.items():
                if is_plain_address(address):
                    raise ValueError(
                        f"{name}: traffic to another machine without verified TLS. Use sslmode=verify-full "
                        "(PostgreSQL), amqps, rediss or https, or set NETWORK_ENCRYPTED=true where the network "
                        "encrypts it"
                    )
        return self

    @property
    def inside_addresses(self) -> Mapping[str, str]:
        """The addresses of servers and services of the own system, by the names of their variables."""
        return {}

    @property
    def inside_tls(self) -> ssl.SSLContext:
        """The context of clients of our own services; each read makes a new one."""
        return inside_client_tls(self.inside_ca_file)

    @property
    def server_tls(self) -> ssl.SSLContext | None:
        """The context with which the process serves; None without TLS. Each read makes a new one."""
        if not self.inside_certificate_file:
            return None
        return server_tls(self.inside_certificate_file, self.inside_key_file)
