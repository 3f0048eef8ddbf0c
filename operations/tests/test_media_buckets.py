"""The buckets of the image store exist after the step that creates them, however often it runs."""

from pathlib import Path

import pytest

from common.media.s3 import S3Error
from operations.media_buckets import create_missing_buckets
from testkit.s3_server import s3_store

KEY, SECRET = "campus-media", "a-secret-of-the-test"


async def test_missing_buckets_are_created_and_existing_ones_stay(tmp_path: Path) -> None:
    (tmp_path / "campus-media").mkdir()
    (tmp_path / "campus-media" / "a.webp").write_bytes(b"content")
    async with s3_store(tmp_path, KEY, SECRET) as url:
        environment = {
            "MEDIA_S3_ENDPOINT": url,
            "MEDIA_S3_BUCKETS": "campus-media, campus-tickets",
            "MEDIA_S3_ACCESS_KEY": KEY,
            "MEDIA_S3_SECRET_KEY": SECRET,
        }
        for _ in range(2):
            assert await create_missing_buckets(environment) == ["campus-media", "campus-tickets"]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["campus-media", "campus-tickets"]
        assert (tmp_path / "campus-media" / "a.webp").read_bytes() == b"content"
        with pytest.raises(S3Error, match="SignatureDoesNotMatch"):
            await create_missing_buckets({**environment, "MEDIA_S3_SECRET_KEY": "another-secret"})
