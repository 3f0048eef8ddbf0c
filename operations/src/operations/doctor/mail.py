"""The mail server, and the DNS records by which receivers accept our mails."""

import asyncio
import re
import smtplib
from email.utils import parseaddr
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import dns.exception
import dns.resolver

from operations.doctor.examination import Examination
from operations.doctor.findings import Finding, fault, ok, warning

SMTP_SECONDS_MAX: Final = 15.0
_PORTS: Final = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}

_ENCRYPTED: Final = ok("mail encryption", "the connection is encrypted, with a valid certificate")
_PLAIN: Final = fault(
    "mail encryption",
    "the connection is not encrypted",
    "empty SMTP_PLAINTEXT: mails contain codes and links that sign users in",
)


async def check_mail(examination: Examination) -> list[Finding]:
    """Connects to the mail server, encrypts, signs in, and leaves without a mail."""
    address = urlsplit(examination.value("SMTP_URL"))
    if address.scheme not in _PORTS:
        return [fault("mail server", "has no address", "set SMTP_URL=smtp+starttls://USER:PASSWORD@HOST:587")]
    return await asyncio.to_thread(_session, examination, address)


def _session(examination: Examination, address: SplitResult) -> list[Finding]:
    subject, host, port = "mail server", address.hostname or "", address.port or _PORTS[address.scheme]
    try:
        if address.scheme == "smtps":
            client: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=SMTP_SECONDS_MAX, context=examination.tls)
        else:
            client = smtplib.SMTP(host, port, timeout=SMTP_SECONDS_MAX)
        with client:
            if address.scheme == "smtps":
                encryption = _ENCRYPTED
            elif examination.value("SMTP_PLAINTEXT").lower() == "true":
                encryption = _PLAIN
            else:
                client.starttls(context=examination.tls)
                encryption = _ENCRYPTED
            return [encryption, _sign_in(client, address)]
    except smtplib.SMTPNotSupportedError:
        advice = "use smtps:// if the server encrypts from the start, or another port (587)"
        return [fault("mail encryption", f"{host}:{port} offers no STARTTLS", advice)]
    except (OSError, smtplib.SMTPException) as error:
        advice = "check host, port and certificate of SMTP_URL; cloud networks often block port 25"
        return [fault(subject, f"{host}:{port} is unreachable: {type(error).__name__}", advice)]


def _sign_in(client: smtplib.SMTP, address: SplitResult) -> Finding:
    subject = "mail server"
    if not address.username:
        advice = "write user and password into SMTP_URL, unless the server knows you by your address"
        return warning(subject, "is reachable; no user is set", advice)
    try:
        client.login(unquote(address.username), unquote(address.password or ""))
    except (smtplib.SMTPAuthenticationError, smtplib.SMTPServerDisconnected) as error:
        # Some servers close the connection in place of an error.
        found = f"rejects user or password: {getattr(error, 'smtp_code', 'connection closed')}"
        return fault(subject, found, "set user and password in SMTP_URL")
    except smtplib.SMTPNotSupportedError:
        return fault(subject, "offers no sign-in", "use the port for submission (587), with STARTTLS")
    return ok(subject, "accepts user and password; no mail was sent")


async def check_dns(examination: Examination) -> list[Finding]:
    """Reads SPF, DMARC and DKIM of the sender's domain."""
    _, at, domain = parseaddr(examination.value("MAIL_FROM"))[1].lower().rpartition("@")
    if not at:
        return [fault("mail domain", "MAIL_FROM has no domain", "set MAIL_FROM to an address of your own domain")]
    try:
        findings = [
            _spf(domain, await _texts(examination, domain)),
            _dmarc(domain, await _texts(examination, f"_dmarc.{domain}")),
        ]
        findings += [
            _dkim(selector, await _texts(examination, f"{selector}._domainkey.{domain}"))
            for selector in examination.dkim_selectors
        ]
    except dns.exception.DNSException as error:
        advice = "check the name servers of the domain, and those of this machine"
        return [fault("mail domain", f"records of {domain} are not readable: {type(error).__name__}", advice)]
    if not examination.dkim_selectors:
        advice = "name the selector of your mail company: campusctl doctor --dkim-selector NAME"
        findings.append(warning("DKIM", "was not checked: a key is found by its selector only", advice))
    return findings


async def _texts(examination: Examination, name: str) -> list[str]:
    try:
        reply = await examination.resolver.resolve(name, "TXT")
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return []
    return [b"".join(record.strings).decode("ascii", "replace") for record in reply]


def _spf(domain: str, texts: list[str]) -> Finding:
    records = [text for text in texts if re.match(r"v=spf1(\s|$)", text, re.IGNORECASE)]
    if len(records) != 1:
        advice = f"publish one TXT record of {domain}: v=spf1 include:YOUR-MAIL-COMPANY -all"
        return fault("SPF", f"{domain} has {len(records)} records; exactly one is valid", advice)
    words = records[0].lower().split()
    if "+all" in words or "all" in words:
        return fault("SPF", f"{domain} permits every server", "end the record with -all or ~all")
    if not {"-all", "~all"} & set(words) and not any(word.startswith("redirect=") for word in words):
        return warning("SPF", f"{domain} rejects no other server", "end the record with -all or ~all")
    return ok("SPF", f"{domain} names its servers; the mail company's must be among them")


def _dmarc(domain: str, texts: list[str]) -> Finding:
    records = [text for text in texts if text.lower().startswith("v=dmarc1")]
    if len(records) != 1:
        advice = f"publish one TXT record of _dmarc.{domain}: v=DMARC1; p=quarantine; rua=mailto:YOU"
        return fault("DMARC", f"{domain} has {len(records)} records; large mail companies need one", advice)
    policy = re.search(r";\s*p\s*=\s*(\w+)", records[0], re.IGNORECASE)
    if policy is None:
        return fault("DMARC", f"the record of {domain} has no policy", "add p=quarantine")
    if policy[1].lower() == "none":
        return warning("DMARC", "has the policy none", "set p=quarantine once the reports show your own mails only")
    return ok("DMARC", f"has the policy {policy[1].lower()}")


def _dkim(selector: str, texts: list[str]) -> Finding:
    key = re.search(r"(?:^|;)\s*p\s*=\s*([^;\s]*)", " ".join(texts))
    if key is None:
        return fault("DKIM", f"{selector} has no record", "publish the record that the mail company shows")
    if not key[1]:
        return fault("DKIM", f"the key of {selector} is revoked", "publish the record of the present key")
    return ok("DKIM", f"{selector} has a key")
