import pytest

from common.primitives.web_origins import is_on_allowed_origin

ORIGINS = ("https://shop.example", "http://localhost:3000", "http://127.0.0.1:*")


@pytest.mark.parametrize(
    "url",
    [
        "https://shop.example",
        "https://shop.example/paid?order=1#top",
        "https://SHOP.example:443/paid",
        "http://localhost:3000/",
        "http://127.0.0.1:5173/paid",
        "http://127.0.0.1/paid",
    ],
)
def test_a_url_of_an_allowed_origin_is_accepted(url: str) -> None:
    assert is_on_allowed_origin(url, ORIGINS)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "shop.example/paid",
        "//shop.example/paid",
        "http://shop.example/paid",
        "https://shop.example:8443/paid",
        "https://shop.example.evil.example/",
        "https://shop.example@evil.example/",
        "https://evil.example/https://shop.example",
        "https://evil.example\\@shop.example/",
        "https://shop.example\\.evil.example/",
        "https://shop.example /",
        "https://shop.example\n.evil.example/",
        "https://sh\u00f6p.example/",
        "javascript:alert(1)//shop.example",
        "https://shop.example:port/",
        "https://[::1",
        "https://127.0.0.1:5173/",
        "http://127.0.0.1:5173@evil.example/",
        "http://127.0.0.1.evil.example:5173/",
        "http://127.0.0.1:*/",
        "ftp://shop.example/",
    ],
)
def test_every_other_address_is_rejected(url: str) -> None:
    assert is_on_allowed_origin(url, ORIGINS) is False


@pytest.mark.parametrize("path", ["pa\\id", "pa id", "pa\tid", "p\u00e4id", "paid\n"])
def test_a_character_that_browsers_normalize_is_rejected_after_an_allowed_origin(path: str) -> None:
    assert is_on_allowed_origin(f"https://shop.example/{path}", ORIGINS) is False


@pytest.mark.parametrize(("scheme", "port"), [("http", 80), ("https", 443)])
def test_the_default_port_may_be_named_by_either_side(scheme: str, port: int) -> None:
    with_port, without = f"{scheme}://shop.example:{port}", f"{scheme}://shop.example"
    assert is_on_allowed_origin(f"{without}/paid", (with_port,))
    assert is_on_allowed_origin(f"{with_port}/paid", (without,))
    assert not is_on_allowed_origin(f"{scheme}://shop.example:{port + 1}/paid", (without,))


def test_without_origins_nothing_is_allowed() -> None:
    assert not is_on_allowed_origin("https://shop.example/", ())
