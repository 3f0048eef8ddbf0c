"""The generated reference pages match the code."""

import pytest
from pydantic import Field
from pydantic_settings import BaseSettings

from campus_tools import reference
from campus_tools.reference import FOLDER, pages


def test_the_reference_is_up_to_date() -> None:
    stale = [name for name, text in pages().items() if (FOLDER / name).read_text() != text]
    assert stale == [], "run `make documents`"


@pytest.mark.parametrize(("meaning", "examples"), [("", [8081]), ("TCP port", [])])
def test_a_setting_without_a_meaning_or_an_example_is_rejected(
    monkeypatch: pytest.MonkeyPatch, meaning: str, examples
) -> None:
    class Settings(BaseSettings):
        port: int = Field(default=1, description=meaning, examples=examples)

    monkeypatch.setattr(reference, "settings_of", lambda _: Settings)
    with pytest.raises(ValueError, match="PORT has no meaning or no example"):
        pages()
