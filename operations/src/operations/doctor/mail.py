"""The mail server, and the DNS records by which receivers accept our mails."""

import asyncio
import re
import smtplib
import ssl
from email.utils import parseaddr
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

import dns.exception
import dns.resolver

from operations.doctor.examination import Examination
from operations.doctor.findings import Finding, fault, ok, warning

SMTP_SECONDS_MAX: Final = 15.0
SMTP_OK: Final = 250
# The only host of a domain that receives no mail (RFC 7505).
NULL_MX: Final = "."
_PORTS: Final = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}


async def check_mail(examination: Examination) -> list[Finding]:
    """Connect to the mail server, encrypts, signs in, names the sender, and sends no mail."""
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
            if address.scheme != "smtps" and examination.value("SMTP_PLAINTEXT").lower() != "true":
                client.starttls(context=examination.tls)
            findings = [_encryption(client), _sign_in(client, address)]
            if findings[-1].state != "fault":
                findings.append(_sender(client, parseaddr(examination.value("MAIL_FROM"))[1]))
            return findings
    except smtplib.SMTPNotSupportedError:
        advice = "use smtps:// if the server encrypts from the start, or another port (587)"
        return [fault("mail encryption", f"{host}:{port} offers no STARTTLS", advice)]
    except (OSError, smtplib.SMTPException) as error:
        advice = "check host, port and certificate of SMTP_URL; cloud networks often block port 25"
        return [fault(subject, f"{host}:{port} is unreachable: {type(error).__name__}", advice)]


def _encryption(client: smtplib.SMTP) -> Finding:
    subject = "mail encryption"
    if isinstance(client.sock, ssl.SSLSocket):
        return ok(subject, "the connection is encrypted, with a valid certificate")
    advice = "empty SMTP_PLAINTEXT: mails contain codes and links that sign users in"
    return fault(subject, "the connection is not encrypted", advice)


def _sender(client: smtplib.SMTP, sender: str) -> Finding:
    """Names the sender of a mail, and withdraws it."""
    client.ehlo_or_helo_if_needed()
    code, words = client.mail(sender)
    client.rset()
    if code == SMTP_OK:
        return ok("mail sender", f"{sender} is accepted; no mail was sent")
    advice = "verify the domain of MAIL_FROM at the mail company, or set MAIL_FROM to a verified sender"
    return fault("mail sender", f"{sender} is rejected: {code} {words.decode(errors='replace')}"[:200], advice)


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
    return ok(subject, "accepts user and password")


async def check_dns(examination: Examination) -> list[Finding]:
    """Read MX, SPF, DMARC and DKIM of the sender's domain."""
    _, at, domain = parseaddr(examination.value("MAIL_FROM"))[1].lower().rpartition("@")
    if not at:
        return [fault("mail domain", "MAIL_FROM has no domain", "set MAIL_FROM to an address of your own domain")]
    try:
        findings = [
            _mx(domain, await _mail_hosts(examination, domain)),
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


async def _mail_hosts(examination: Examination, domain: str) -> list[str]:
    try:
        reply = await examination.resolver.resolve(domain, "MX")
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return []
    return [record.exchange.to_text(omit_final_dot=True) for record in reply]


async def _texts(examination: Examination, name: str) -> list[str]:
    try:
        reply = await examination.resolver.resolve(name, "TXT")
    except (dns.resolver.NXDOMAIN, dns.resolver.NoAnswer):
        return []
    return [b"".join(record.strings).decode("ascii", "replace") for record in reply]


def _mx(domain: str, hosts: list[str]) -> Finding:
    if not hosts or hosts == [NULL_MX]:
        found = f"{domain} has no MX record" if not hosts else f"{domain} declares that it receives no mail"
        advice = (
            f"publish an MX record of {domain}: mail companies reject senders that receive no mail, and bounces "
            "are lost"
        )
        return fault("MX", found, advice)
    return ok("MX", f"{domain} receives mail at {', '.join(sorted(hosts))}")


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
