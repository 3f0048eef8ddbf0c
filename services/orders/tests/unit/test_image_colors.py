"""The colors of an upload are kept: a profile is converted to sRGB, and 16 bits of a channel are scaled to 8."""

import io
import struct

import pytest
from PIL import Image, ImageCms

from common.media.images import render

# Display P3 by its primaries and the curve of sRGB, as phones write it: XYZ of red, green and blue for D50.
P3_PRIMARIES = {
    b"rXYZ": (0.51512, 0.24120, -0.00105),
    b"gXYZ": (0.29198, 0.69225, 0.04189),
    b"bXYZ": (0.15710, 0.06657, 0.78407),
}
D50 = (0.96420, 1.0, 0.82491)
# The red of sRGB as Display P3 writes it.
RED_IN_P3 = (234, 51, 35)


def fixed(*values: float) -> bytes:
    return struct.pack(f">{len(values)}i", *(round(value * 65_536) for value in values))


def display_p3() -> bytes:
    """Return a profile of version 4: the white point, a matrix, and one parametric curve for all channels."""
    curve = b"para\0\0\0\0\0\3\0\0" + fixed(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
    tags = {name: b"XYZ \0\0\0\0" + fixed(*value) for name, value in {**P3_PRIMARIES, b"wtpt": D50}.items()}
    tags |= dict.fromkeys((b"rTRC", b"gTRC", b"bTRC"), curve)
    table, contents, offset = b"", b"", 128 + 4 + 12 * len(tags)
    for name, content in tags.items():
        table += name + struct.pack(">II", offset + len(contents), len(content))
        contents += content + b"\0" * (-len(content) % 4)
    body = struct.pack(">I", len(tags)) + table + contents
    head = struct.pack(">I4sI4s4s4s", 128 + len(body), b"\0" * 4, 0x04000000, b"mntr", b"RGB ", b"XYZ ")
    head = (head + b"\0" * 12 + b"acsp").ljust(68, b"\0") + fixed(*D50)
    return head.ljust(128, b"\0") + body


def encoded(image: Image.Image, form: str, **options) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def middle(content: bytes) -> tuple[int, ...]:
    """Return the color in the middle of both renditions, which must be close."""
    made = render(content)
    colors = []
    for rendition in (made.image, made.thumbnail):
        with Image.open(io.BytesIO(rendition)) as shown:
            colors.append(shown.getpixel((shown.width // 2, shown.height // 2)))
    assert colors[0] == pytest.approx(colors[1], abs=4)
    return colors[0]


@pytest.mark.parametrize(("form", "mode"), [("JPEG", "RGB"), ("PNG", "RGB"), ("PNG", "P"), ("WEBP", "RGB")])
def test_a_photograph_in_display_p3_keeps_its_colors(form: str, mode: str) -> None:
    options = {"lossless": True} if form == "WEBP" else {}
    photograph = Image.new("RGB", (64, 64), RED_IN_P3)
    photograph = photograph.quantize(2) if mode == "P" else photograph
    content = encoded(photograph, form, icc_profile=display_p3(), **options)
    assert middle(content) == pytest.approx((255, 0, 0), abs=6)


def test_an_image_with_a_profile_retains_its_transparency() -> None:
    content = encoded(Image.new("RGBA", (64, 64), (*RED_IN_P3, 100)), "PNG", icc_profile=display_p3())
    assert middle(content) == pytest.approx((255, 0, 0, 100), abs=6)


@pytest.mark.parametrize("value", [0, 0x4000, 0x8000, 0xFFFF])
def test_a_gray_image_of_16_bits_keeps_its_brightness(value: int) -> None:
    content = encoded(Image.new("I;16", (64, 64), value), "PNG")
    assert middle(content) == pytest.approx((value >> 8,) * 3, abs=3)


def test_a_gray_image_with_transparency_of_16_bits_is_accepted() -> None:
    content = encoded(Image.new("I;16", (64, 64), 0x8000), "PNG", transparency=0x1234)
    assert middle(content)[:3] == pytest.approx((128,) * 3, abs=3)


@pytest.mark.parametrize("profile", [b"none", display_p3()[:200], display_p3() + b"\0" * 3_000_000])
def test_an_unreadable_or_huge_profile_is_ignored(profile: bytes) -> None:
    content = encoded(Image.new("RGB", (64, 64), (200, 100, 50)), "WEBP", lossless=True, icc_profile=profile)
    assert middle(content) == pytest.approx((200, 100, 50), abs=6)


def test_a_profile_of_another_kind_of_color_is_ignored() -> None:
    content = encoded(Image.new("L", (64, 64), 120), "PNG", icc_profile=display_p3())
    assert middle(content) == pytest.approx((120,) * 3, abs=3)


def test_the_profile_of_srgb_changes_nothing() -> None:
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    content = encoded(Image.new("RGB", (64, 64), (200, 100, 50)), "JPEG", quality=95, icc_profile=srgb)
    assert middle(content) == pytest.approx((200, 100, 50), abs=4)
