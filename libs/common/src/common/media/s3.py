"""Requests to one bucket of an S3 store, signed by botocore, and the store's errors by their code."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote, urlsplit

import httpx

if TYPE_CHECKING:
    from botocore.credentials import Credentials

# For one image of some hundred kilobytes.
BUCKET_SECONDS_MAX: Final = 10.0
# Error documents have some hundred bytes; a longer body is no error document of a store.
ERROR_BYTES_MAX: Final = 16 * 1024
ERROR_TEXT_MAX: Final = 300

NO_SUCH_KEY: Final = "NoSuchKey"
ADVICE: Final = {
    "NoSuchBucket": "create the bucket, or correct MEDIA_S3_BUCKET, MEDIA_S3_ENDPOINT or MEDIA_S3_ADDRESSING",
    "AccessDenied": "permit the key s3:GetObject, s3:PutObject, s3:DeleteObject, and s3:ListBucket on the bucket; "
    "without s3:ListBucket a missing image is answered AccessDenied",
    "InvalidAccessKeyId": "correct MEDIA_S3_ACCESS_KEY: the store has no such key",
    "SignatureDoesNotMatch": "correct MEDIA_S3_SECRET_KEY: it is not the secret of MEDIA_S3_ACCESS_KEY",
    "InvalidToken": "correct MEDIA_S3_SESSION_TOKEN: it is the token of another key; a permanent key has none",
    "ExpiredToken": "replace the temporary key: MEDIA_S3_ACCESS_KEY, MEDIA_S3_SECRET_KEY and MEDIA_S3_SESSION_TOKEN",
    "RequestTimeTooSkewed": "correct the clock of this machine; the store accepts 15 minutes of difference",
    "AuthorizationHeaderMalformed": "correct MEDIA_S3_REGION: the bucket is in another region",
    "PermanentRedirect": "correct MEDIA_S3_ENDPOINT and MEDIA_S3_REGION: the bucket has others",
}
"""What an operator does about an error that no retry ends, by its code."""

_FIELDS: Final = {name: re.compile(rf"<{name}>\s*([^<]*?)\s*</{name}>") for name in ("Code", "Message", "RequestId")}


class S3Error(Exception):
    """The store rejected a request. `code` is the store's own word, empty where the response names none.

    The message holds neither key nor signature, which error documents may repeat.
    """

    def __init__(self, status: int, code: str, message: str, request_id: str) -> None:
        named = f"{code or 'no error code'} (HTTP {status}{f', request {request_id}' if request_id else ''})"
        super().__init__(f"{named}: {message}" if message else named)
        self.status, self.code = status, code

    @property
    def advice(self) -> str | None:
        """Return the action that an operator must take; None where a retry may succeed (SlowDown, InternalError)."""
        return ADVICE.get(self.code)


@dataclass(frozen=True, slots=True)
class S3Location:
    """A bucket: the store's address, and whether the bucket is the first part of the path or of the host name."""

    endpoint: str
    bucket: str
    region: str = "us-east-1"
    addressing: Literal["path", "virtual"] = "path"

    def url(self, name: str = "") -> str:
        """Return the address of an object, or of the bucket itself."""
        endpoint = urlsplit(self.endpoint.rstrip("/"))
        if self.addressing == "virtual":
            return f"{endpoint.scheme}://{self.bucket}.{endpoint.netloc}{endpoint.path}/{quote(name)}"
        return f"{endpoint.geturl()}/{self.bucket}" + (f"/{quote(name)}" if name else "")


class S3Client:
    """Signed requests with one access key, which may be a temporary one with a session token."""

    def __init__(self, http: httpx.AsyncClient, location: S3Location, key: "Credentials") -> None:
        # Imported here: botocore takes 6 MB of each process, and only a bucket needs it.
        from botocore.auth import S3SigV4Auth

        self._http, self.location = http, location
        self._signer = S3SigV4Auth(key, "s3", location.region)

    async def request(
        self, method: str, name: str = "", content: bytes = b"", *, media_type: str = "", query: str = ""
    ) -> httpx.Response:
        """Return the store's successful response. Without a name, the request is about the bucket itself.

        Raises S3Error, and httpx.HTTPError when no response arrived.
        """
        from botocore.awsrequest import AWSRequest

        url = self.location.url(name) + (f"?{query}" if query else "")
        request = AWSRequest(method, url, headers={"Content-Type": media_type} if media_type else {}, data=content)
        self._signer.add_auth(request)
        response = await self._http.request(
            method, url, headers=dict(request.headers.items()), content=content, timeout=BUCKET_SECONDS_MAX
        )
        if not response.is_success:
            raise error_of(response)
        return response


def error_of(response: httpx.Response) -> S3Error:
    """Read an error document; a response without one gives an error without a code."""
    body = response.content[:ERROR_BYTES_MAX].decode("utf-8", "replace")
    found = {name: match[1][:ERROR_TEXT_MAX] for name, field in _FIELDS.items() if (match := field.search(body))}
    request_id = found.get("RequestId") or response.headers.get("x-amz-request-id", "")
    return S3Error(response.status_code, found.get("Code", ""), found.get("Message", ""), request_id)
