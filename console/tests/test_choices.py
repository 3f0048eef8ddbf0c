"""The filters of the console's lists offer what the API accepts."""

import json
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import pytest

from console import pages
from console.choices import choices_of, user_choices
from console.lists import Filter, ListView

OPENAPI = Path(__file__).parents[2] / "services/api-gateway/src/api_gateway/pages/openapi.json"


def _views() -> Iterator[ListView]:
    for module in walk_packages(pages.__path__, "console.pages."):
        yield from (value for value in vars(import_module(module.name)).values() if isinstance(value, ListView))


def test_a_filter_offers_the_values_of_its_parameter() -> None:
    view = ListView("/api/webhook-endpoints/0198/deliveries", (), ())
    assert view.options_of(Filter("status", "Status")) == (
        ("pending", "pending"), ("delivered", "delivered"), ("failed", "failed")
    )  # fmt: skip
    assert view.options_of(Filter("number", "Number")) == ()
    sales = ListView("/api/sales", (), ())
    assert "day" not in dict(sales.options_of(Filter("groupBy", "By", blank="day")))
    assert choices_of("/api/chargebacks", "awaiting") == (("answer", "answer"),)


@pytest.mark.parametrize("view", {view.path: view for view in _views()}.values(), ids=lambda view: view.path)
def test_a_list_is_filtered_by_parameters_of_the_api(view: ListView) -> None:
    operation = json.loads(OPENAPI.read_text())["paths"][view.path]["get"]
    names = {one["name"] for one in operation.get("parameters", ()) if "name" in one}
    assert {one.name for one in view.filters} | view.fixed.keys() <= names


def test_users_of_one_name_have_their_address_in_the_choice() -> None:
    named = [("1", "Bisi Adewale", "bisi@a.example"), ("2", "Bisi Adewale", "b@a.example")]
    named += [("3", "Musa Idowu", "musa@a.example"), ("4", None, "new@a.example"), ("5", None, "newer@a.example")]
    users = [{"userId": user_id, "fullName": name, "email": address} for user_id, name, address in named]
    assert dict(user_choices(users)) == {
        "1": "Bisi Adewale, bisi@a.example",
        "2": "Bisi Adewale, b@a.example",
        "3": "Musa Idowu",
        "4": "new@a.example",
        "5": "newer@a.example",
    }
