"""Settings as doctor reads them, and a set of settings without a fault."""

import shlex
from pathlib import Path

import pytest

from operations.doctor.settings_files import read_settings

from .conftest import findings_of, lines

PRODUCTION = {
    "BASE_URL": "https://api.campus.ng",
    "GATEWAY_API_URL": "https://api.paystack.co",
    "GATEWAY_SECRET_KEY": "sk_live_1",
    "GATEWAY_SIGNATURE_HEADER": "x-paystack-signature",
    "SMS_API_URL": "https://api.ng.termii.com",
    "SMS_API_KEY": "TL1",
    "SMS_FALLBACK_API_URL": "https://campus@api.africastalking.com",
    "SMS_RECEIPT_KEY": "key",
    "SMTP_URL": "smtp+starttls://campus:p@mail.campus.ng:587",
    "MAIL_FROM": "Campus <no-reply@campus.ng>",
    "MESSAGING_API_URL": "https://graph.facebook.com",
    "MESSAGING_API_TOKEN": "EAA1",
    "MESSAGING_PHONE_NUMBER_ID": "1",
    "MESSAGING_BUSINESS_ACCOUNT_ID": "1",
    "MESSAGING_APP_SECRET": "secret",
    "MESSAGING_VERIFY_TOKEN": "token",
    "VAPID_PRIVATE_KEY": "key",
    "VAPID_SUBJECT": "mailto:push@campus.ng",
    "FCM_SERVICE_ACCOUNT": "{}",
    "ON_CALL_URL": "https://events.pagerduty.com/v2/enqueue",
    "RATE_LIMIT_STORE_URL": "rediss://valkey.campus.ng:6379",
    "MEDIA_S3_ENDPOINT": "https://s3.af-south-1.amazonaws.com",
    "DEMO_DATA": "0",
}


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
