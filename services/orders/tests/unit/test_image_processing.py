"""Images are encoded again: visible content stays, hidden content of a file does not."""

import asyncio
import io
import struct
import zlib
from uuid import UUID

import pytest
from PIL import Image

from common.media import images
from common.media.images import ImageProcessor, ImageProcessorBusy, NotAnImage, render
from orders.domain.images import image_id_of


def drawn(form="JPEG", size=(640, 480), mode="RGB", **options):
    out = io.BytesIO()
    Image.effect_noise(size, 40).convert(mode).save(out, form, **options)
    return out.getvalue()


def with_gps():
    """Return a photograph with EXIF orientation, position and camera name."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "CameraMaker"
    exif.get_ifd(0x8825).update({1: "N", 2: (6.0, 30.0, 0.0)})
    return drawn(exif=exif.tobytes(), comment=b"taken at home")


def png_of_claimed_size(width, height):
    """Return a PNG of a few hundred bytes that unpacks to a whole wall."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0" * 100_000, 9))
    return b"\x89PNG\r\n\x1a\n" + header + pixels + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("form", "mode"), [("JPEG", "RGB"), ("JPEG", "CMYK"), ("PNG", "RGB"), ("PNG", "P"), ("WEBP", "RGB")]
)
def test_each_supported_format_becomes_an_image_and_a_thumbnail(form: str, mode: str) -> None:
    made = render(drawn(form, (2_400, 1_200), mode))
    sizes = []
    for content in (made.image, made.thumbnail):
        with Image.open(io.BytesIO(content)) as pixels:
            assert pixels.format == "WEBP"
            sizes.append(pixels.size)
    assert sizes == [(1_600, 800), (320, 160)]


def test_a_small_image_keeps_its_size_and_transparency() -> None:
    out = io.BytesIO()
    Image.new("RGBA", (10, 20), (255, 0, 0, 0)).save(out, "PNG")
    with Image.open(io.BytesIO(render(out.getvalue()).image)) as pixels:
        assert pixels.size == (10, 20)
        assert pixels.convert("RGBA").getpixel((5, 5))[3] == 0


def test_location_metadata_is_removed_and_rotation_applied() -> None:
    sent = with_gps()
    assert b"CameraMaker" in sent
    assert b"taken at home" in sent
    made = render(sent)
    for content in (made.image, made.thumbnail):
        assert b"CameraMaker" not in content
        assert b"taken at home" not in content
        with Image.open(io.BytesIO(content)) as pixels:
            assert dict(pixels.getexif()) == {}
            assert pixels.size[0] < pixels.size[1]


def test_embedded_data_is_removed() -> None:
    sent = drawn() + b"<script>alert(1)</script>PK\x03\x04#!/bin/sh"
    made = render(sent)
    assert b"script" not in made.image
    assert b"/bin/sh" not in made.image


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no picture",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>",
        drawn("GIF", mode="P"),
        drawn("BMP"),
        drawn("TIFF"),
        drawn()[:-2_000],
        drawn("PNG")[:5_000],
        drawn("WEBP")[:3_000],
        b"\xff\xd8\xff\xe0" + b"\x00" * 100,
        png_of_claimed_size(30_000, 30_000),
        png_of_claimed_size(5_001, 5_000),
        png_of_claimed_size(2_000_000_000, 1),
        png_of_claimed_size(0, 0),
    ],
    ids=lambda content: content[:12].hex() + f"-{len(content)}",
)
def test_a_truncated_or_oversized_image_is_rejected(content) -> None:
    with pytest.raises(NotAnImage):
        render(content)


def with_scans(times):
    """Return a progressive JPEG that repeats its last scan, a few dozen bytes, so often."""
    sent = drawn(size=(64, 64), progressive=True)
    last = sent.rindex(b"\xff\xda")
    return sent[:last] + sent[last:-2] * times + sent[-2:]


def test_a_small_file_cannot_keep_the_decoder_at_work_by_thousands_of_scans() -> None:
    with pytest.raises(NotAnImage, match="scans"):
        render(with_scans(images.SCANS_MAX))
    assert render(with_scans(2)).image


def test_bytes_that_resemble_scans_outside_the_image_are_accepted() -> None:
    comment, queued = b"\xff\xda\x00\x02" * 200, b"\xff\xda\x00\x02" * 200
    sent = drawn(size=(64, 64), progressive=True, comment=comment) + queued
    assert 1 < images.scans_of(sent) <= 10
    assert render(sent).image
    assert images.scans_of(drawn("PNG", size=(8, 8))) == 0


async def test_images_beyond_the_queue_are_rejected_with_retry() -> None:
    image_processor = ImageProcessor(waiting_max=0)
    try:
        rendered = [image_processor.render(drawn(size=(8, 8))) for _ in range(images.THREADS + 1)]
        *accepted, last = await asyncio.gather(*rendered, return_exceptions=True)
        assert isinstance(last, ImageProcessorBusy)
        assert all(isinstance(renditions, images.Renditions) for renditions in accepted)
        assert (await image_processor.render(drawn(size=(8, 8)))).image
    finally:
        image_processor.close()


def test_a_name_has_one_content_and_belongs_to_one_product() -> None:
    first, second = UUID(int=1), UUID(int=2)
    assert image_id_of(first, b"a") == image_id_of(first, b"a")
    assert len({image_id_of(first, b"a"), image_id_of(second, b"a"), image_id_of(first, b"b")}) == 3
    assert image_id_of(first, b"a").version == 8
