"""Faults of a state, not of a call: our accounts, the certificate, the mail server and the DNS records.

A fault of such a kind names with `match` what it changes, and with `fail` the state in place of the valid one:
`{"account": {"match": "termii_sender", "fail": "pending"}}`.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple


class State(NamedTuple):
    """The state without a fault, and the regular expression of the others."""

    sound: str
    others: str = ".+"


CERTIFICATE: Final = State("valid", r"expired|days=\d+|wrong_host|unknown_authority|none")

STATES: Final[Mapping[str, Mapping[str, State]]] = {
    "account": {
        "termii_balance": State("50000"),
        "termii_sender": State("active"),
        "africas_talking_balance": State("NGN 50000.0000"),
        "twilio_account": State("active"),
        "twilio_balance": State("100.00"),
        # Fields of the number, separated by commas: `quality_rating=RED`.
        "messaging_number": State("status=CONNECTED", r"\d{3}|\w+=\w+(,\w+=\w+)*"),
        "messaging_templates": State("readable", "401"),
        "language_model": State("gpt-4o-mini"),
        "alertmanager": State("ready"),
        # The only currency, with an amount in kobo in place of the ledger's: `NGN 0`.
        "gateway_balance": State("NGN", r"[A-Z]{3}( \d+)?"),
        "gateway_banks": State("all", "none"),
        "flutterwave_key": State("accepted", "401"),
        "flutterwave_balance": State("ledger", "0|400|500"),
        "flutterwave_banks": State("all", "none"),
        # The code of S3's error.
        "image_store": State("readable", r"[A-Za-z]+"),
    },
    "load_balancer": {"certificate": CERTIFICATE, "webhook": State("forwarded", r"[2-5]\d\d")},
    "mail_server": {
        "certificate": CERTIFICATE,
        "starttls": State("offered", "absent"),
        "login": State("accepted", "rejected"),
        # The reply to MAIL FROM.
        "sender": State("accepted", r"[45]\d\d .+"),
    },
    # One record a line; `absent`: no such name; `SERVFAIL`: the server's own error.
    "name_server": {
        # An address of the AS112 project (RFC 7535), which swallows what it receives.
        "address": State("192.31.196.1"),
        "mx": State("10 mail.example.", r"(?s).+"),
        "spf": State("v=spf1 include:mail.example -all", r"(?s).+"),
        "dkim": State("v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3", r"(?s).+"),
        "dmarc": State("v=DMARC1; p=quarantine; rua=mailto:reports@mail.example", r"(?s).+"),
    },
}
"""The states of each kind."""
