"""The settings of the process, from its environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class SettingsError(Exception):
    """The environment is not usable; the message names every problem at once."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Addresses, secrets and the opening float. `gateway_keys` are all accepted; the first one signs the webhooks.
    They are those of the start: `/control/gateway-keys` changes them.

    Without `sms_receipt_url` the SMS companies send no receipts. Without `flutterwave_key` the second gateway responds
    with 401. The endpoints of `submission_port`, `load_balancer_port` and `name_server_port` are served where the port
    is not 0.
    """

    host: str
    port: int
    smtp_port: int
    submission_port: int
    load_balancer_port: int
    load_balancer_upstream: str
    name_server_port: int
    state_dir: Path
    gateway_keys: tuple[str, ...]
    webhook_url: str
    gateway_signature_header: str
    flutterwave_key: str
    flutterwave_webhook_url: str
    flutterwave_webhook_hash: str
    messaging_webhook_url: str
    messaging_app_secret: str
    sms_receipt_url: str
    sms_receipt_key: str
    base_url: str
    opening_balance_minor: int
    access_log: bool


REQUIRED = (
    "PORT",
    "SMTP_PORT",
    "STATE_DIR",
    "GATEWAY_SECRET_KEY",
    "WEBHOOK_URL",
    "MESSAGING_WEBHOOK_URL",
    "MESSAGING_APP_SECRET",
    "BASE_URL",
)

ADDRESSES = (
    "WEBHOOK_URL",
    "FLUTTERWAVE_WEBHOOK_URL",
    "MESSAGING_WEBHOOK_URL",
    "SMS_RECEIPT_URL",
    "LOAD_BALANCER_UPSTREAM",
    "BASE_URL",
)


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read the settings; raises SettingsError with all problems, so that one start shows the whole list."""
    problems = [f"{name} is missing" for name in REQUIRED if not environment.get(name, "").strip()]
    numbers = {
        name: _whole_number(name, environment.get(name, default), low, high, problems)
        for name, default, low, high in (
            ("PORT", "", 1, 65535),
            ("SMTP_PORT", "", 1, 65535),
            ("SUBMISSION_PORT", "", 1, 65535),
            ("LOAD_BALANCER_PORT", "", 1, 65535),
            ("NAME_SERVER_PORT", "", 1, 65535),
            ("OPENING_BALANCE_MINOR", "0", 0, 2**53),
        )
    }
    for name in ADDRESSES:
        address = environment.get(name, "")
        if address and not address.startswith(("http://", "https://")):
            problems.append(f"{name} must be an http or https address, not {address!r}")
    if numbers["LOAD_BALANCER_PORT"] and not environment.get("LOAD_BALANCER_UPSTREAM"):
        problems.append("LOAD_BALANCER_UPSTREAM is missing, which LOAD_BALANCER_PORT needs")
    keys = tuple(key.strip() for key in environment.get("GATEWAY_SECRET_KEY", "").split(",") if key.strip())
    previous = environment.get("GATEWAY_SECRET_KEY_PREVIOUS", "").strip()
    if environment.get("GATEWAY_SECRET_KEY", "").strip() and not keys:
        problems.append("GATEWAY_SECRET_KEY holds no key")
    if problems:
        raise SettingsError("The sandbox cannot start:\n" + "\n".join(f"  - {problem}" for problem in problems))
    return Settings(
        host=environment.get("HOST", "127.0.0.1"),
        port=numbers["PORT"],
        smtp_port=numbers["SMTP_PORT"],
        submission_port=numbers["SUBMISSION_PORT"],
        load_balancer_port=numbers["LOAD_BALANCER_PORT"],
        load_balancer_upstream=environment.get("LOAD_BALANCER_UPSTREAM", "").rstrip("/"),
        name_server_port=numbers["NAME_SERVER_PORT"],
        state_dir=Path(environment["STATE_DIR"]),
        gateway_keys=(*keys, previous) if previous else keys,
        webhook_url=environment["WEBHOOK_URL"],
        gateway_signature_header=environment.get("GATEWAY_SIGNATURE_HEADER") or "x-gateway-signature",
        flutterwave_key=environment.get("FLUTTERWAVE_SECRET_KEY", ""),
        flutterwave_webhook_url=environment.get("FLUTTERWAVE_WEBHOOK_URL", ""),
        flutterwave_webhook_hash=environment.get("FLUTTERWAVE_WEBHOOK_HASH", ""),
        messaging_webhook_url=environment["MESSAGING_WEBHOOK_URL"],
        messaging_app_secret=environment["MESSAGING_APP_SECRET"],
        sms_receipt_url=environment.get("SMS_RECEIPT_URL", "").rstrip("/"),
        sms_receipt_key=environment.get("SMS_RECEIPT_KEY", ""),
        base_url=environment["BASE_URL"].rstrip("/"),
        opening_balance_minor=numbers["OPENING_BALANCE_MINOR"],
        access_log=environment.get("ACCESS_LOG", "0") == "1",
    )


def _whole_number(name: str, text: str, low: int, high: int, problems: list[str]) -> int:
    if not text.strip():
        # A required name that is absent is already on the list; an empty optional one means its default.
        return 0
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        problems.append(f"{name} must be a whole number from {low} to {high}, not {text!r}")
        return 0
    return int(text)
