"""Settings as doctor reads them, and a set of settings without a fault."""

import shlex
from pathlib import Path

import pytest

from operations.doctor.settings_files import read_settings

from .conftest import PRODUCTION, findings_of, lines


async def test_production_settings_have_no_fault() -> None:
    assert lines(await findings_of("settings", PRODUCTION)) == [("ok", "settings")]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ('A={"private_key": "-----BEGIN\\nx"}', '{"private_key": "-----BEGIN\\nx"}'),
        ("A=Campus Marketplace <no-reply@unilag.example>", "Campus Marketplace <no-reply@unilag.example>"),
        ("A=Ada's Campus", "Ada's Campus"),
        ("A='two words'", "two words"),
        (f"A={shlex.quote(chr(39) + 'x y')}", "'x y"),
        ('A="a=b"', "a=b"),
        ("A=", ""),
    ],
)
def test_a_settings_file_of_each_platform_is_read(line: str, value: str, tmp_path: Path) -> None:
    file = tmp_path / "production.env"
    file.write_text(f"# comment\n\n  # another\n{line}\n")
    assert read_settings(file) == {"A": value}


@pytest.mark.parametrize("line", ["A", "A='the-pass-word"])
def test_a_malformed_settings_file_is_named_without_its_values(line: str, tmp_path: Path) -> None:
    file = tmp_path / "production.env"
    file.write_text(f"B=1\n{line}\n")
    with pytest.raises(ValueError, match=r"^line 2") as raised:
        read_settings(file)
    assert "the-pass-word" not in str(raised.value)
