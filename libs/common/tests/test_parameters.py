"""Statements whose conditions are chosen at run time."""

from common.database.parameters import Parameters, all_of

FILTERS = {"status": "status = {}", "orderId": "order_id = {}", "either": "{0} IN (a, b) OR c = {0}"}


def test_each_value_has_the_number_of_its_place() -> None:
    parameters = Parameters("now", 21)
    assert parameters.conditions(FILTERS, {"orderId": 7, "status": "paid"}) == ["order_id = $3", "status = $4"]
    assert parameters.condition("(created_at, id) < ({}, {})", "then", 9) == "(created_at, id) < ($5, $6)"
    assert parameters.values == ["now", 21, 7, "paid", "then", 9]


def test_a_condition_may_name_its_value_twice() -> None:
    parameters = Parameters()
    assert parameters.conditions(FILTERS, {"either": 5}) == ["$1 IN (a, b) OR c = $1"]
    assert parameters.values == [5]


def test_no_text_of_a_value_is_in_a_condition() -> None:
    parameters = Parameters()
    assert parameters.condition("name = {}", "'; DROP TABLE orders; {} --") == "name = $1"


def test_conditions_are_joined_by_and() -> None:
    assert all_of(["a = $1", "b = $2"]) == "a = $1 AND b = $2"
    assert all_of([]) == "true"
