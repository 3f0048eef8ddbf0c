"""Output of commands on a terminal."""

import pytest

from operations.campusctl.showing import Output, amount_of, show_output


@pytest.mark.parametrize("separator", ["\n", "\r\n"])
def test_a_long_text_keeps_its_line_breaks_and_indentation(separator: str, capsys: pytest.CaptureFixture[str]) -> None:
    show_output(Output({"service": "orders", "said": f"rows: 2{separator}\tone{separator}  two"}), as_json=False)
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown == ["service  orders", "said     rows: 2", " " * 13 + "one", " " * 11 + "two"]


def test_a_control_character_of_a_long_text_is_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    show_output(Output({"said": "one\n\x1b[31mtwo"}), as_json=False)
    assert "\x1b" not in (shown := capsys.readouterr().out)
    assert "?[31mtwo" in shown


@pytest.mark.parametrize(
    "output",
    [Output([{"subject": "Hello\nok      gateway key"}]), Output(None, lines=("fault   Hello\nok      gateway key",))],
)
def test_a_stored_text_never_starts_a_line_of_its_own(output: Output, capsys: pytest.CaptureFixture[str]) -> None:
    show_output(output, as_json=False)
    assert not [line for line in capsys.readouterr().out.splitlines() if line.startswith("ok")]


@pytest.mark.parametrize(("currency", "shown"), [("NGN", "₦2,500.50"), ("USD", "250050 USD in minor units")])
def test_an_amount_is_shown_in_its_currency(currency: str, shown: str) -> None:
    assert amount_of({"amountMinor": 250_050, "currency": currency}) == shown
