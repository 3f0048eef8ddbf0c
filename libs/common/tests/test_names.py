"""Names of people, shops and products (contract section 1.4)."""

import pytest

from common.primitives.names import name_fault


@pytest.mark.parametrize(
    "name",
    [
        "Ada Obi",
        "Ọláyínká Àjàyí",
        "O'Neil-Ẹ̀ṣọ́",
        "\u0645\u062d\u0645\u062f \u0639\u0644\u064a",
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "李小龍",
        "Ɓala Ƙasim",
        "Zoë 👩🏽\u200d🍳",
        "7/11 \u2013 Café",
    ],
)
def test_a_name_of_any_script_is_a_name(name: str) -> None:
    assert name_fault(name) is None


@pytest.mark.parametrize(
    "name",
    [
        "Ada\r\nBcc: all@x.ng", "Ada\nObi", "Ada\tObi", "Ada\x7f", "Ada\x85Obi", "Ada\u2028Obi", "Ada \u202eibO",
        "\u2067Ada", "\u200b\u200b", "\u3164", "\U0001d159", "\u2800\u2800", "\u00ad", "\ufeff\u2060", "\u00a0",
        "\u0301",
    ],
)  # fmt: skip
def test_controls_overrides_and_invisible_texts_are_no_names(name: str) -> None:
    assert name_fault(name) is not None
