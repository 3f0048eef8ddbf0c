"""Signatures of S3 requests (AWS Signature Version 4), for the three operations that are needed."""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Key:
    """An access key and its region."""

    id: str
    secret: str = field(repr=False)
    region: str = "us-east-1"


def signed_headers(
    key: Key, method: str, url: str, headers: Mapping[str, str], content: bytes, now: datetime
) -> dict[str, str]:
    """`headers` (lower case) plus those of the signature, for a path of unreserved characters without a query."""
    parts = urlsplit(url)
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(content).hexdigest()
    signed = {**headers, "host": parts.netloc, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name].strip()}\n" for name in sorted(signed))
    canonical = f"{method}\n{parts.path}\n{parts.query}\n{lines}\n{names}\n{digest}"
    scope = f"{stamp[:8]}/{key.region}/s3/aws4_request"
    to_sign = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    secret = f"AWS4{key.secret}".encode()
    for part in scope.split("/"):
        secret = hmac.digest(secret, part.encode(), "sha256")
    signature = hmac.new(secret, to_sign.encode(), "sha256").hexdigest()
    proof = f"AWS4-HMAC-SHA256 Credential={key.id}/{scope}, SignedHeaders={names}, Signature={signature}"
    return {**signed, "authorization": proof}
