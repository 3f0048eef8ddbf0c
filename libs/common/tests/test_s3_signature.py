"""Signatures equal the published examples of Signature Version 4 for S3."""

from datetime import UTC, datetime

from common.media.s3_signature import Key, signed_headers

KEY = Key("AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
NOW = datetime(2013, 5, 24, tzinfo=UTC)


def signature(headers):
    return headers["authorization"].rpartition("Signature=")[2]


def test_the_published_get_has_the_published_signature() -> None:
    signed = signed_headers(
        KEY, "GET", "https://examplebucket.s3.amazonaws.com/test.txt", {"range": "bytes=0-9"}, b"", NOW
    )
    assert signature(signed) == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    assert signed["x-amz-date"] == "20130524T000000Z"


def test_the_published_put_has_the_published_signature() -> None:
    headers = {"date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"}
    url = "https://examplebucket.s3.amazonaws.com/test%24file.text"
    signed = signed_headers(KEY, "PUT", url, headers, b"Welcome to Amazon S3.", NOW)
    assert signature(signed) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"


def test_the_representation_of_a_key_hides_its_secret() -> None:
    assert KEY.secret not in repr(KEY)
