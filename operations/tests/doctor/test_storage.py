"""The image store is a real S3 server, which checks signatures."""

from pathlib import Path

import pytest

from testkit.s3_server import s3_store

from .conftest import findings_of, only_line


@pytest.mark.parametrize(
    ("changes", "state", "found"),
    [
        ({}, "ok", "campus-media is readable"),
        ({"MEDIA_S3_BUCKET": "absent"}, "fault", "NoSuchBucket"),
        ({"MEDIA_S3_ACCESS_KEY": "another-key"}, "fault", "InvalidAccessKeyId"),
        ({"MEDIA_S3_SECRET_KEY": "another-secret"}, "fault", "SignatureDoesNotMatch"),
        ({"MEDIA_S3_ENDPOINT": "http://127.0.0.1:9"}, "fault", "unreachable"),
    ],
)
async def test_the_image_store_is_read(changes: dict[str, str], state: str, found: str, tmp_path: Path) -> None:
    (tmp_path / "campus-media").mkdir()
    key = {"MEDIA_S3_ACCESS_KEY": "campus-media", "MEDIA_S3_SECRET_KEY": "a-secret-of-the-test"}
    async with s3_store(tmp_path, *key.values()) as url:
        environment = {"MEDIA_S3_ENDPOINT": url, "MEDIA_S3_BUCKET": "campus-media", **key, **changes}
        findings = await findings_of("storage", environment)
    assert found in only_line(findings, state, "image store").found
