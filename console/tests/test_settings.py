"""The settings of all services on one page."""

from typing import Any

from console.pages.platform.settings import SHARED, _by_service


def setting(service: str, name: str, value: str | None = "1") -> dict[str, Any]:
    shown = {"service": service, "name": name, "value": value, "default": "1", "meaning": "A number", "isSet": False}
    return {**shown, "isSecret": value is None}


def test_a_setting_that_services_have_alike_is_listed_once() -> None:
    rows = [
        setting("orders", "LOG_LEVEL"),
        setting("orders", "PORT", "2"),
        setting("payouts", "LOG_LEVEL"),
        setting("payouts", "PORT", "3"),
        setting("payouts", "FEE"),
        setting("identity", "FEE"),
        setting("identity", "LOG_LEVEL"),
    ]
    groups = dict(_by_service(rows))
    shared = {one["name"]: one["meaning"] for one in groups[SHARED]}
    assert shared == {"LOG_LEVEL": "A number (all)", "FEE": "A number (payouts, identity)"}
    assert {name: [one["value"] for one in own] for name, own in groups.items() if name != SHARED} == {
        "orders": ["2"],
        "payouts": ["3"],
    }
