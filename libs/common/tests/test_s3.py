"""Images in a bucket of a real S3 store, and the errors of stores."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from botocore.credentials import Credentials

from common.media.s3 import ADVICE, S3Client, S3Error, S3Location
from common.media.storage import Bucket, MediaSettings, MediaUnavailable
from testkit.s3_server import s3_store

KEY, SECRET = "campus-media", "a-secret-of-the-test"
CREDENTIALS = Credentials(KEY, SECRET)
NAME = "00000000-0000-0000-0000-000000000007.webp"


class Unresolved(httpx.AsyncHTTPTransport):
    """Connects to this machine, whatever host the address names: a test has no name server."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(host="127.0.0.1")
        return await super().handle_async_request(request)


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, transport=Unresolved()) as http:
        yield http


@pytest.fixture(params=["path", "virtual"])
async def location(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[S3Location]:
    (tmp_path / "pictures").mkdir()
    async with s3_store(tmp_path, KEY, SECRET, path_addressing=request.param == "path") as url:
        yield S3Location(url.replace("127.0.0.1", "store.example") + "/", "pictures", "eu-west-1", request.param)


async def test_a_bucket_stores_images_for_the_holder_of_its_key(
    http: httpx.AsyncClient, location: S3Location, tmp_path: Path
) -> None:
    bucket = Bucket(S3Client(http, location, CREDENTIALS), "support")
    assert await bucket.get(NAME) is None
    for _ in range(2):
        await bucket.put(NAME, b"content")
    assert [path.name for path in (tmp_path / "pictures" / "support").iterdir()] == [NAME]
    assert await bucket.get(NAME) == b"content"
    for _ in range(2):
        await bucket.remove(NAME)
    assert await bucket.get(NAME) is None


async def test_a_bucket_is_closed_to_other_keys(http: httpx.AsyncClient, location: S3Location, tmp_path: Path) -> None:
    await Bucket(S3Client(http, location, CREDENTIALS)).put(NAME, b"content")
    for key in (Credentials(KEY, "another-secret"), Credentials("another-key", SECRET)):
        outsider = Bucket(S3Client(http, location, key))
        for call in (outsider.get(NAME), outsider.put(NAME, b"other"), outsider.remove(NAME)):
            with pytest.raises(MediaUnavailable):
                await call
    assert (tmp_path / "pictures" / NAME).read_bytes() == b"content"


async def test_a_missing_bucket_is_an_error_and_no_missing_image(http: httpx.AsyncClient, location: S3Location) -> None:
    elsewhere = S3Location(location.endpoint, "absent", location.region, location.addressing)
    with pytest.raises(S3Error) as caught:
        await S3Client(http, elsewhere, CREDENTIALS).request("GET", NAME)
    assert (caught.value.code, caught.value.status) == ("NoSuchBucket", 404)
    with pytest.raises(MediaUnavailable):
        await Bucket(S3Client(http, elsewhere, CREDENTIALS)).get(NAME)


async def test_an_unreachable_store_is_unavailable(http: httpx.AsyncClient, tmp_path: Path) -> None:
    async with s3_store(tmp_path, KEY, SECRET) as url:
        pass
    with pytest.raises(MediaUnavailable):
        await Bucket(S3Client(http, S3Location(url, "pictures"), CREDENTIALS)).get(NAME)


def client_of(status: int, body: bytes, key: Credentials = CREDENTIALS) -> tuple[S3Client, list[httpx.Request]]:
    """Return a client whose store sends this response, and the requests that it received."""
    received: list[httpx.Request] = []

    def respond(request: httpx.Request) -> httpx.Response:
        received.append(request)
        return httpx.Response(status, content=body)

    http = httpx.AsyncClient(transport=httpx.MockTransport(respond))
    return S3Client(http, S3Location("https://s3.example", "pictures"), key), received


def document(code: str, more: str = "") -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<Error><Code>{code}</Code><Message>The reason in words.</Message>{more}<RequestId>656c76</RequestId></Error>"
    ).encode()


@pytest.mark.parametrize(
    ("status", "body", "code", "is_for_operators"),
    [
        (404, document("NoSuchKey", "<Key>a.webp</Key>"), "NoSuchKey", False),
        (404, document("NoSuchBucket"), "NoSuchBucket", True),
        (403, document("AccessDenied"), "AccessDenied", True),
        (403, document("InvalidAccessKeyId", f"<AWSAccessKeyId>{KEY}</AWSAccessKeyId>"), "InvalidAccessKeyId", True),
        (
            403,
            document("SignatureDoesNotMatch", f"<StringToSign>AWS4 {SECRET}</StringToSign>"),
            "SignatureDoesNotMatch",
            True,
        ),
        (400, document("ExpiredToken"), "ExpiredToken", True),
        (403, document("RequestTimeTooSkewed"), "RequestTimeTooSkewed", True),
        (400, document("AuthorizationHeaderMalformed", "<Region>af-south-1</Region>"), "AuthorizationHeaderMalformed",
            True),
        (301, document("PermanentRedirect", "<Endpoint>s3.example</Endpoint>"), "PermanentRedirect", True),
        (503, document("SlowDown"), "SlowDown", False),
        (500, document("InternalError"), "InternalError", False),
        (502, b"<html>Bad gateway</html>", "", False),
        (503, b"", "", False),
        (404, b"\xff\xfe\x00", "", False),
    ],
)  # fmt: skip
async def test_an_error_of_a_store_is_read_without_its_secrets(
    status: int, body: bytes, code: str, is_for_operators: bool
) -> None:
    client, _ = client_of(status, body)
    with pytest.raises(S3Error) as caught:
        await client.request("GET", NAME)
    assert (caught.value.status, caught.value.code) == (status, code)
    assert (caught.value.advice is not None) == is_for_operators
    assert SECRET not in str(caught.value)
    assert KEY not in str(caught.value)
    if code:
        assert "The reason in words." in str(caught.value)
        assert "656c76" in str(caught.value)


@pytest.mark.parametrize("body", [b"", b"<html>Not found</html>"])
async def test_a_404_of_another_server_is_no_missing_image(body: bytes) -> None:
    client, _ = client_of(404, body)
    with pytest.raises(MediaUnavailable):
        await Bucket(client).get(NAME)


async def test_a_session_token_is_sent_and_signed() -> None:
    client, received = client_of(200, b"content", Credentials(KEY, SECRET, "the-session-token"))
    await client.request("GET", NAME)
    assert received[0].headers["x-amz-security-token"] == "the-session-token"
    assert "x-amz-security-token" in received[0].headers["authorization"]


@pytest.mark.parametrize(
    ("addressing", "endpoint", "name", "url"),
    [
        ("path", "https://s3.example/", "a.webp", "https://s3.example/pictures/a.webp"),
        ("path", "http://minio:9000", "", "http://minio:9000/pictures"),
        ("path", "https://s3.example/store", "x/a.webp", "https://s3.example/store/pictures/x/a.webp"),
        ("virtual", "https://s3.eu-west-1.example", "a.webp", "https://pictures.s3.eu-west-1.example/a.webp"),
        ("virtual", "https://s3.example:8443", "", "https://pictures.s3.example:8443/"),
    ],
)
def test_the_setting_decides_where_the_bucket_is_named(addressing: Any, endpoint: str, name: str, url: str) -> None:
    assert S3Location(endpoint, "pictures", addressing=addressing).url(name) == url


def test_advice_names_settings_that_exist() -> None:
    words = {word.strip(",.;:") for text in ADVICE.values() for word in text.split()}
    named = {word for word in words if word.startswith("MEDIA_S3_")}
    assert named <= {field.upper() for field in MediaSettings.model_fields}
