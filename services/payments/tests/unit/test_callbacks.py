import pytest

from payments.domain.callbacks import is_allowed_callback

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
    assert is_allowed_callback(url, ORIGINS)


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
    assert not is_allowed_callback(url, ORIGINS)


def test_without_origins_nothing_is_allowed() -> None:
    assert not is_allowed_callback("https://shop.example/", ())
