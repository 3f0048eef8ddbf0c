"""The coding of a response, and that every reader can decode it (RFC 9110, 12.5.3; RFC 1952)."""

import gzip
import zlib

import pytest

from api_gateway.compression import COMPRESSED_FROM_BYTES, Accepted, CompressedPrefix, accepted_codings, with_weak_etag


@pytest.mark.parametrize(
    ("header", "gzip_is_preferred", "plain_is_refused"),
    [
        (None, False, False),
        (b"", False, False),
        (b"gzip", True, False),
        (b"GZIP", True, False),
        (b"x-gzip", True, False),
        (b"deflate, br;q=1.0, gzip;q=0.8", True, False),
        (b"gzip ; q=0.001", True, False),
        (b"gzip;q=0", False, False),
        (b"gzip;q=0.000, *", False, False),
        (b"*", True, False),
        (b"*;q=0", False, True),
        (b"*;q=0, gzip", True, True),
        (b"*;q=0, identity", False, False),
        (b"identity", False, False),
        (b"identity;q=0", False, True),
        (b"identity;q=0, gzip;q=0.1", True, True),
        (b"identity;q=1, gzip;q=0.5", False, False),
        (b"identity;q=0.5, gzip;q=0.5", True, False),
        (b"br, deflate", False, False),
        (b"gzip;q=often", False, False),
        (b"gzip;q=nan", False, False),
        (b"gzip;q=2", False, False),
        (b"gzipped", False, False),
        (b", ,gzip,", True, False),
        (b"\xff\xfe", False, False),
    ],
)
def test_the_weights_of_the_client_decide(
    header: bytes | None, gzip_is_preferred: bool, plain_is_refused: bool
) -> None:
    assert accepted_codings(header) == Accepted(gzip_is_preferred, plain_is_refused)


@pytest.mark.parametrize(
    ("accepted", "size", "compresses"),
    [
        (Accepted(gzip=True, refuses_plain=False), COMPRESSED_FROM_BYTES, True),
        (Accepted(gzip=True, refuses_plain=False), COMPRESSED_FROM_BYTES - 1, False),
        (Accepted(gzip=True, refuses_plain=True), 1, True),
        (Accepted(gzip=False, refuses_plain=False), 1_000_000, False),
        (Accepted(gzip=False, refuses_plain=True), 1_000_000, False),
    ],
)
def test_short_responses_stay_plain_unless_the_client_rejects_that(
    accepted: Accepted, size: int, compresses: bool
) -> None:
    assert accepted.compresses(size) is compresses


@pytest.mark.parametrize("end", [b"", b"x", b',"meta":{"requestId":"req_1"}}', b"e" * 65_535, b"e" * 200_000])
@pytest.mark.parametrize("prefix", [b"", b"b", b'{"data":[1,2,3]' * 1_000])
def test_a_beginning_compressed_once_and_each_end_are_one_stream(prefix: bytes, end: bytes) -> None:
    compressed = CompressedPrefix(prefix)
    for each in (end, end[::-1]):
        whole = compressed.with_suffix(each)
        assert gzip.decompress(whole) == prefix + each
        # One member: browsers read no further than the first.
        reader = zlib.decompressobj(wbits=31)
        reader.decompress(whole)
        assert reader.eof
        assert reader.unused_data == b""


@pytest.mark.parametrize(("tag", "weak"), [(b'"3"', b'W/"3"'), (b'W/"3-abc"', b'W/"3-abc"')])
def test_a_strong_tag_is_weakened_since_two_codings_share_it(tag: bytes, weak: bytes) -> None:
    assert with_weak_etag([(b"etag", tag), (b"age", b"1")]) == [(b"etag", weak), (b"age", b"1")]
