"""The settings that staff read: every setting is named, and no secret has a value."""

from typing import Any

import pytest
from pydantic import Field
from pydantic_settings import BaseSettings

from common.standard_endpoints.settings_routes import settings_of_service


class Settings(BaseSettings):
    fee_minor: int = Field(default=5, description="The fee,\n in kobo")
    window_seconds: float = Field(default=60.0)
    sender: str = Field(default="Campus")
    api_key: str = Field(default="")
    service_account: str = Field(default="")
    mail_url: str
    hooks: tuple[str, ...] = ()
    issuers: tuple[dict[str, str], ...] = ()


def shown(monkeypatch: pytest.MonkeyPatch, **variables: str) -> dict[str, Any]:
    for name, value in {"MAIL_URL": "smtp://mail.example", **variables}.items():
        monkeypatch.setenv(name, value)
    return {one.name: one for one in settings_of_service("orders", Settings())}


def test_a_setting_has_value_default_and_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = shown(monkeypatch, FEE_MINOR="7")
    fee = rows["FEE_MINOR"]
    assert (fee.service, fee.value, fee.default, fee.is_set, fee.is_secret) == ("orders", "7", "5", True, False)
    assert fee.meaning == "The fee, in kobo"
    assert fee.documented_in == "docs/reference/configuration.md#orders"
    window, mail = rows["WINDOW_SECONDS"], rows["MAIL_URL"]
    assert (window.value, window.default, window.is_set) == ("60", "60", False)
    assert (mail.default, mail.is_set) == (None, True)


def test_no_secret_has_a_value(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = shown(
        monkeypatch,
        API_KEY="s3cret",
        SERVICE_ACCOUNT='{"private_key": "s3cret"}',
        MAIL_URL="smtps://user:s3cret@mail.example:465/s3cret?token=s3cret",
        HOOKS='["https://hooks.example/s3cret"]',
        ISSUERS='[{"secret": "s3cret"}]',
    )
    assert "s3cret" not in str(list(rows.values()))
    assert rows["MAIL_URL"].value == "smtps://mail.example:465"
    assert rows["HOOKS"].value == "https://hooks.example"
    for name in ("API_KEY", "SERVICE_ACCOUNT", "ISSUERS"):
        assert (rows[name].value, rows[name].is_secret, rows[name].is_set) == (None, True, True)
