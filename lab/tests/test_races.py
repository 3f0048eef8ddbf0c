"""The schedules of races, and the actions that the tables of transitions ask for."""

import asyncio
from contextlib import nullcontext

import pytest

from lab.races import orders, payouts
from lab.races.__main__ import SITUATIONS, chosen
from lab.races.actions import End
from lab.races.three import three_at_once
from lab.stepped.concurrent_steps import STEP, run_concurrently
from lab.stepped.effects import Effect
from lab.stepped.scheduler import ACTOR, Interleaving, parse_schedule, schedule_of, schedules, sequential, text_of
from orders.domain.transitions import ORDER
from payouts.domain.payout_transitions import EXCEPTION, PAYOUT
from payouts.domain.transitions import TRANSFER

# Transitions of a state that ends within the actions which lead to it, and one that the reserved stock rules out.
WITHIN_OTHER_ACTIONS = {
    ("escrow_fully_released", "delivered"),
    ("return_approved", "delivered"),
    ("everything_returned", "delivered"),
    ("chargeback_opened", "delivered"),
    ("refund_settled", "delivered"),
    ("refund_failed", "delivered"),
    ("escrow_held_without_stock", "Processing"),
}


async def _run(schedule, counts):
    """Return the order of the effects of two actors with so many effects each."""
    order = []

    async def none_waiting() -> int:
        return 0

    interleaving = Interleaving(schedule, none_waiting)

    async def act() -> None:
        actor = ACTOR.get()
        for number in range(counts[actor]):
            await interleaving.wait_for_turn(actor, Effect("orders-api", "statement", str(number)))
            order.append(f"{actor}{number}")
            await asyncio.sleep(0)

    await interleaving.run(dict.fromkeys(counts, act))
    return order


@pytest.mark.parametrize(
    ("schedule", "order"),
    [
        ("a b", "a0 a1 a2 b0 b1 b2"),
        ("b a", "b0 b1 b2 a0 a1 a2"),
        ("a1 b a b", "a0 b0 b1 b2 a1 a2"),
        ("b2 a1 b a", "b0 b1 a0 b2 a1 a2"),
        ("a9 b1 a b", "a0 a1 a2 b0 b1 b2"),
    ],
)
async def test_the_actors_have_their_effects_in_the_order_of_the_schedule(schedule, order) -> None:
    assert await _run(parse_schedule(schedule), {"a": 3, "b": 3}) == order.split()


async def test_the_turn_passes_when_an_actor_waits_for_a_lock() -> None:
    done, free = [], asyncio.Event()

    async def waiting() -> int:
        return int("b0" in done and not free.is_set())

    interleaving = Interleaving(parse_schedule("a1 b a b"), waiting)

    async def act() -> None:
        actor = ACTOR.get()
        for number in range(2):
            await interleaving.wait_for_turn(actor, Effect("orders-api", "statement", str(number)))
            done.append(f"{actor}{number}")
            if done[-1] == "b0":
                await free.wait()
            if done[-1] == "a1":
                free.set()

    await interleaving.run({"a": act, "b": act})
    assert (done, interleaving.blocked) == (["a0", "b0", "a1", "b1"], 1)


async def test_an_error_of_an_action_is_raised_after_the_other_one_has_ended() -> None:
    done = []

    async def none_waiting() -> int:
        return 0

    async def fail() -> None:
        raise LookupError

    async def act() -> None:
        done.append("b")

    with pytest.raises(LookupError):
        await Interleaving(parse_schedule("a b"), none_waiting).run({"a": fail, "b": act})
    assert done == ["b"]


def test_a_schedule_is_read_back_from_its_text() -> None:
    schedule = schedule_of("b", 3, 7)
    assert parse_schedule(text_of(schedule)) == schedule


def test_each_schedule_comes_once_and_every_single_change_comes_first() -> None:
    effects, borders = {"a": 4, "b": 3}, {"a": [2], "b": [1]}
    listed = list(schedules(effects, borders, 7))
    assert len(listed) == len(set(listed))
    assert {text_of(one) for one in listed[:5]} == {"a1 b a b", "a2 b a b", "a3 b a b", "b1 a b a", "b2 a b a"}
    assert {text_of(one) for one in listed[5:7]} == {"a2 b1 a b", "b1 a2 b a"}
    # Two changes: 3 places of a, 2 of b, and either begins.
    assert len(listed) == 5 + 2 * 3 * 2


def test_every_transition_of_an_order_has_an_action_in_the_races() -> None:
    of_races = {
        (cause, situation.state)
        for situation in orders.SITUATIONS
        for action in situation.actions
        for cause in action.causes
    }
    of_table = {(trigger, state) for trigger, rule in ORDER.rules.items() for state in rule.to}
    assert of_table - of_races == WITHIN_OTHER_ACTIONS


def test_every_event_of_a_transfer_and_a_payout_has_an_action_in_the_races() -> None:
    of_races = {cause for situation in payouts.SITUATIONS for action in situation.actions for cause in action.causes}
    assert {*TRANSFER.rules, *PAYOUT.rules, *EXCEPTION.rules} == of_races


def test_the_state_of_every_situation_is_one_of_the_tables() -> None:
    assert {situation.state for situation in orders.SITUATIONS} <= set(ORDER.states)


async def test_messages_move_once_when_all_preparations_wait_for_them() -> None:
    done = []

    def preparation(name, waits):
        async def prepare() -> str:
            for number in range(waits):
                done.append(f"{name}{number}")
                await STEP.get().pause()
            return name

        return prepare

    async def move_messages() -> None:
        done.append("moved")

    results = await run_concurrently([preparation("a", 2), preparation("b", 1)], move_messages)
    assert (results, done) == (["a", "b"], ["a0", "b0", "moved", "a1", "moved"])


async def test_an_error_of_a_preparation_is_raised() -> None:
    async def fail() -> None:
        raise LookupError

    async def move_messages() -> None:
        pass

    with pytest.raises(LookupError):
        await run_concurrently([fail], move_messages)


def test_a_pair_is_chosen_by_its_name_or_by_a_part_of_names() -> None:
    names = [pair.name for pair in chosen(["paid: staff_release/chargeback", "queried as otp: quarantine"])]
    assert names == ["paid: staff_release/chargeback", "queried as otp: quarantine/quarantine"]
    assert len(chosen(None)) == 426


def test_a_combination_of_three_is_chosen_by_its_whole_name_or_among_its_like() -> None:
    [three] = chosen(["paid: staff_release/chargeback/staff_cancels"])
    assert list(three.actors) == ["a", "b", "c"]
    assert three in chosen(["paid: staff_release/chargeback"], has_three=True)


def test_three_actors_run_one_after_the_other_in_six_orders() -> None:
    assert [text_of(one) for one in sequential("abc")] == ["a b c", "a c b", "b a c", "b c a", "c a b", "c b a"]


def test_random_schedules_of_three_actors_come_once_and_let_each_one_end() -> None:
    listed = list(schedules({"a": 3, "b": 2, "c": 2}, {"a": [2], "b": [1], "c": []}, 7))
    assert len(listed) == len(set(listed)) > 50
    for schedule in listed:
        assert {part.actor for part in schedule if part.until is None} == {"a", "b", "c"}
        assert all(part.until is None or part.until < 3 for part in schedule)


async def test_three_actors_have_their_effects_in_the_order_of_the_schedule() -> None:
    order = await _run(parse_schedule("c1 a1 b c a"), {"a": 2, "b": 1, "c": 2})
    assert order == ["c0", "a0", "b0", "c1", "a1"]


def test_twenty_combinations_have_three_different_actions() -> None:
    names = [{action.name for action in three.actions} for three in three_at_once(SITUATIONS)]
    assert [len(one) for one in names] == [3] * 20


@pytest.mark.parametrize(
    ("cash_minor", "payable_minor", "refunds", "disputed_minor", "is_right"),
    [
        (0, 0, [(500, "settled")], 0, True),
        (200, 200, [(200, "failed"), (300, "settled")], 0, True),
        (200, 0, [(200, "failed"), (300, "settled")], 0, False),
        (200, 200, [(300, "settled")], 0, False),
        (500, 500, [], 0, False),
        # An open chargeback may settle the refund that waits for it.
        (200, 200, [(200, "pending"), (300, "settled")], 500, True),
        (200, 200, [(200, "pending"), (300, "settled")], 0, False),
        (500, 500, [(200, "failed"), (300, "pending")], 500, True),
        (300, 300, [(200, "pending"), (300, "settled")], 500, False),
    ],
)
def test_of_a_refunded_order_only_outstanding_refunds_are_kept(
    cash_minor: int, payable_minor: int, refunds: list[tuple[int, str]], disputed_minor: int, is_right: bool
) -> None:
    processed = [(amount, "processed") for amount, status in refunds if status == "settled"]
    end = End(
        {
            "status": "refunded",
            "payments": {"gateway_cash": cash_minor, "refund_payable": -payable_minor},
            "refunds": refunds,
            "gateway": processed,
            "disputed": disputed_minor,
        }
    )
    with nullcontext() if is_right else pytest.raises(AssertionError, match="of a refunded order kept"):
        orders.check(end)
