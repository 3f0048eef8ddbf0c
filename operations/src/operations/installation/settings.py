"""The one settings file of an installation, `/etc/campus/campus.env`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from common.primitives.provider_addresses import PROVIDER_ADDRESSES, is_of_development
from operations.doctor.settings_files import read_settings
from operations.installation.errors import InstallationFailed

SETTINGS_FILE: Final = Path("/etc/campus/campus.env")
STATE_DIR: Final = Path("/var/lib/campus")
PORT_BASE: Final = 8080
_ENVIRONMENTS: Final = ("production", "staging")
_REQUIRED: Final = {
    "ENVIRONMENT": "production, or staging for a trial with the sandbox",
    "BASE_URL": "the public address of the API, https://api.YOUR-DOMAIN",
    "CONSOLE_URL": "the public address of the console, https://console.YOUR-DOMAIN",
    "GATEWAY_API_URL": "the payment gateway, for example https://api.paystack.co",
    "GATEWAY_SECRET_KEY": "the secret key of the payment gateway",
    "SMS_API_URL": "the SMS company, for example https://api.ng.termii.com",
    "SMS_API_KEY": "the key of the SMS company",
    "SMTP_URL": "the mail server, as smtps://user:password@host:465",
    "MAIL_FROM": "the sender of mails, of your own domain",
    "BOOTSTRAP_ADMIN_EMAIL": "the mail address of the first administrator",
}
_REQUIRED_IN_PRODUCTION: Final = {
    "BACKUP_REPOSITORY": "the backups: a folder on another disk, or s3://BUCKET/PREFIX (docs/backup.md)",
    "BACKUP_RECOVERY_KEY": "the public key that `campusctl backup recovery-key` prints on another machine",
}
TEMPLATE: Final = "".join(
    f"# {meaning}\n{name}=\n" for name, meaning in {**_REQUIRED, **_REQUIRED_IN_PRODUCTION}.items()
) + (
    "# the certificate of both addresses: a mail address for ACME, or the files of your own certificate\n"
    "ACME_EMAIL=\n# TLS_CERTIFICATE_FILE=\n# TLS_KEY_FILE=\n"
)
"""The file of a new machine, to be filled in. docs/reference/configuration.md has all other settings."""


@dataclass(frozen=True, slots=True)
class InstallationSettings:
    """The values of the file. `memory_bytes` is the memory of the machine."""

    values: Mapping[str, str]
    memory_bytes: int

    @property
    def is_production(self) -> bool:
        return self.values["ENVIRONMENT"] == "production"

    @property
    def has_backup(self) -> bool:
        return "BACKUP_REPOSITORY" in self.values

    @property
    def hosts(self) -> tuple[str, str]:
        """The host names of API and console."""
        return _host(self.values["BASE_URL"]), _host(self.values["CONSOLE_URL"])


def read_installation_settings(path: Path, memory_bytes: int) -> InstallationSettings:
    """Read and check the file. Raises InstallationFailed with every fault, one a line; never with a value's secret."""
    try:
        given = {name: text for name, text in read_settings(path).items() if text}
    except FileNotFoundError:
        raise InstallationFailed(
            f"There is no {path}.", f"Write it: campusctl install --template > {path}, and fill it in"
        ) from None
    except (OSError, ValueError) as error:
        raise InstallationFailed(f"{path} is not readable: {error}.", "Write NAME=value lines") from None
    if faults := [*_missing(given), *_malformed(given), *_of_the_sandbox(given)]:
        raise InstallationFailed(f"{path} is not complete:\n" + "\n".join(f"  {one}" for one in faults), str(path))
    return InstallationSettings(given, memory_bytes)


def _missing(given: Mapping[str, str]) -> list[str]:
    required = _REQUIRED | (_REQUIRED_IN_PRODUCTION if given.get("ENVIRONMENT") == "production" else {})
    faults = [f"{name} is not set: {meaning}" for name, meaning in required.items() if name not in given]
    files = [name for name in ("TLS_CERTIFICATE_FILE", "TLS_KEY_FILE") if name in given]
    if not files and "ACME_EMAIL" not in given:
        faults.append("ACME_EMAIL is not set: an address for notices of the certificate authority")
    if len(files) == 1:
        faults.append("TLS_CERTIFICATE_FILE and TLS_KEY_FILE need each other")
    faults += [f"{name}: there is no file {given[name]}" for name in files if not Path(given[name]).is_file()]
    return faults


def _malformed(given: Mapping[str, str]) -> list[str]:
    faults = []
    if given.get("ENVIRONMENT", "production") not in _ENVIRONMENTS:
        faults.append(f"ENVIRONMENT is {given['ENVIRONMENT']}: one of {', '.join(_ENVIRONMENTS)}")
    for name in ("BASE_URL", "CONSOLE_URL"):
        address = urlsplit(given.get(name, "https://host"))
        if address.scheme != "https" or not address.hostname or address.path not in ("", "/") or address.port:
            faults.append(f"{name} is no address such as https://host.domain, without port and path")
    if "BASE_URL" in given and given["BASE_URL"] == given.get("CONSOLE_URL"):
        faults.append("CONSOLE_URL needs a host name other than that of BASE_URL")
    faults += [f"{name} contains a line break" for name, text in given.items() if "\n" in text]
    return faults


def _of_the_sandbox(given: Mapping[str, str]) -> list[str]:
    if given.get("ENVIRONMENT") != "production":
        return []
    names = [*PROVIDER_ADDRESSES, "BASE_URL", "CONSOLE_URL"]
    faults = [
        f"{name}: {host} is this machine, the sandbox or an example"
        for name in names
        if (host := urlsplit(given.get(name, "")).hostname) and is_of_development(host)
    ]
    if given.get("DEMO_DATA", "0") != "0":
        faults.append("DEMO_DATA: a production system has no demo accounts; remove the line")
    if urlsplit(f"//{given.get('BOOTSTRAP_ADMIN_EMAIL', '').rpartition('@')[2]}").hostname == "campus.example":
        faults.append("BOOTSTRAP_ADMIN_EMAIL is the example")
    return faults


def _host(origin: str) -> str:
    return urlsplit(origin).hostname or ""
