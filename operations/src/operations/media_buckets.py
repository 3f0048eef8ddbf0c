"""Create the buckets of the image store that are missing: `python -m operations.media_buckets`, a step of
docker-compose.yml.

`MEDIA_S3_BUCKETS` lists them with commas; without `MEDIA_S3_ENDPOINT` images are kept in folders and nothing happens.
"""

import asyncio
import os
import sys
from collections.abc import Mapping

import httpx
from botocore.credentials import Credentials

from common.media.s3 import S3Client, S3Error, S3Location


async def create_missing_buckets(environment: Mapping[str, str]) -> list[str]:
    """Create each bucket that does not exist, and return the names of all. Raises S3Error and httpx.HTTPError."""
    key = Credentials(environment["MEDIA_S3_ACCESS_KEY"], environment["MEDIA_S3_SECRET_KEY"])
    buckets = [bucket.strip() for bucket in environment["MEDIA_S3_BUCKETS"].split(",")]
    async with httpx.AsyncClient(trust_env=False) as http:
        for bucket in buckets:
            region = environment.get("MEDIA_S3_REGION") or "us-east-1"
            client = S3Client(http, S3Location(environment["MEDIA_S3_ENDPOINT"], bucket, region), key)
            try:
                await client.request("GET", query="list-type=2&max-keys=0")
            except S3Error as error:
                if error.code != "NoSuchBucket":
                    raise
                await client.request("PUT")
    return buckets


if __name__ == "__main__":
    if not os.environ.get("MEDIA_S3_ENDPOINT"):
        print("MEDIA_S3_ENDPOINT is empty: images are kept in folders.")
        sys.exit()
    try:
        print(f"These buckets are ready: {', '.join(asyncio.run(create_missing_buckets(os.environ)))}.")
    except (S3Error, httpx.HTTPError) as error:
        sys.exit(f"The buckets could not be created: {error!r}. Is {os.environ['MEDIA_S3_ENDPOINT']} the image store?")
