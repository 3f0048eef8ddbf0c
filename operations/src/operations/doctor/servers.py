"""Language model, image store, receiver of alerts, and the clock."""

from typing import Final

import httpx
from botocore.credentials import Credentials

from common.media.s3 import S3Client, S3Error, S3Location
from operations.doctor.examination import Examination, rejected
from operations.doctor.findings import Finding, fault, ok, warning

ALERTMANAGER_PATH: Final = "/api/v2/alerts"
# Tokens and signatures tolerate a minute; S3 rejects fifteen.
SKEW_WARNING_SECONDS: Final = 5.0
SKEW_FAULT_SECONDS: Final = 60.0


async def check_model(examination: Examination) -> list[Finding]:
    """Read the list of models."""
    subject, url, model = "language model", examination.url("AI_BASE_URL"), examination.value("AI_MODEL")
    if not url:
        return [ok(subject, "is not used: the built-in assistant responds")]
    key = examination.value("AI_API_KEY")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    reply = await examination.call(subject, "GET", f"{url}/models", headers=headers)
    if reply.status in {401, 403}:
        return [fault(subject, f"rejects the key: {rejected(reply)}", "set AI_API_KEY")]
    if not reply.is_success:
        advice = "check AI_BASE_URL, which ends before /chat/completions; some companies list no models"
        return [warning(subject, f"its models are not readable: {rejected(reply)}", advice)]
    if not any(row.get("id") == model for row in reply.rows("data")):
        return [fault(subject, f"{model} is not among its models", "set AI_MODEL to one of GET /models")]
    return [ok(subject, f"accepts the key and has {model}")]


async def check_storage(examination: Examination) -> list[Finding]:
    """Read each bucket without listing its objects."""
    endpoint = examination.url("MEDIA_S3_ENDPOINT")
    if not endpoint:
        return [ok("image store", "is a folder")]
    token = examination.value("MEDIA_S3_SESSION_TOKEN") or None
    key = Credentials(examination.value("MEDIA_S3_ACCESS_KEY"), examination.value("MEDIA_S3_SECRET_KEY"), token)
    addressing = examination.value("MEDIA_S3_ADDRESSING")
    buckets = [examination.value(name) for name in ("MEDIA_S3_BUCKET", "TICKETS_S3_BUCKET") if examination.value(name)]
    findings = [] if buckets else [fault("image store", "has no bucket", "set MEDIA_S3_BUCKET")]
    for bucket in buckets:
        region = examination.value("MEDIA_S3_REGION")
        location = S3Location(endpoint, bucket, region, "virtual" if addressing == "virtual" else "path")
        findings.append(await _bucket(S3Client(examination.http, location, key)))
    return findings


async def _bucket(client: S3Client) -> Finding:
    subject, bucket = "image store", client.location.bucket
    try:
        await client.request("GET", query="list-type=2&max-keys=0")
    except S3Error as error:
        advice = error.advice or "the store may be unavailable: repeat this check"
        return fault(subject, f"rejects requests to {bucket}: {error}", advice)
    except httpx.HTTPError as error:
        advice = "check MEDIA_S3_ENDPOINT and MEDIA_S3_ADDRESSING"
        return fault(subject, f"is unreachable: {type(error).__name__}", advice)
    return ok(subject, f"{bucket} is readable")


async def check_on_call(examination: Examination) -> list[Finding]:
    """Read the state of Alertmanager; other receivers show none."""
    subject, url = "receiver of alerts", examination.url("ON_CALL_URL")
    if not url:
        return [ok(subject, "is not used")]
    if not url.endswith(ALERTMANAGER_PATH):
        advice = "raise a test alert by the company's own page, and see whether the phone rings"
        return [warning(subject, "shows no state without an alert", advice)]
    reply = await examination.call(subject, "GET", f"{url.removesuffix('/alerts')}/status")
    if not reply.is_success:
        return [
            fault(subject, f"is not readable: {rejected(reply)}", "set ON_CALL_URL to Alertmanager's /api/v2/alerts")
        ]
    cluster = reply.member("cluster")
    state = cluster.get("status") if isinstance(cluster, dict) else None
    if state not in ("ready", "disabled"):
        return [warning(subject, f"its cluster is {state or 'unknown'}", "see the logs of Alertmanager's instances")]
    return [ok(subject, "is ready")]


async def check_clock(examination: Examination) -> list[Finding]:
    """Compare this machine's clock with the Date headers of the other checks; the median counts."""
    skews = sorted(examination.skews_seconds.values(), key=abs)
    if not skews:
        return [warning("clock", "was not compared: no provider sent its time", "run all checks")]
    skew = skews[len(skews) // 2]
    found = f"differs by {abs(skew):.0f} s from {len(skews)} providers"
    advice = "synchronise the clocks of all machines (chrony or systemd-timesyncd)"
    if abs(skew) >= SKEW_FAULT_SECONDS:
        return [fault("clock", found, advice)]
    if abs(skew) >= SKEW_WARNING_SECONDS:
        return [warning("clock", found, advice)]
    return [ok("clock", found)]
