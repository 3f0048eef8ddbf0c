"""The HTML page of all lifecycles, without scripts: the usual way and a table for each state machine."""

from collections.abc import Iterator
from typing import Any

from api_gateway.frame import code, prose, table
from api_gateway.frame import page as framed
from campus_tools.documents.lifecycles import LIFECYCLES, USUAL_WAY
from common.primitives.lifecycles import Lifecycle


def page() -> str:
    """Return the whole page."""
    lines = ["<h1>Lifecycles</h1>"]
    lines.append(
        "<p>The states of each resource, and who causes a transition. The usual way is the straight line of filled "
        "states, each with the ways off it; states off the usual way follow with an outline. <em>Start</em> and "
        "<em>end</em> are words at the state. The table has every transition.</p>"
    )
    lines.append(
        '<ul class="jump">'
        + "".join(f'<li><a href="#{_anchor(one)}">{one.name}</a></li>' for one in LIFECYCLES)
        + "</ul>"
    )
    for one in LIFECYCLES:
        lines += _section(one)
    return framed("Lifecycles", "\n".join(lines), current="/lifecycles")


def _section(lifecycle: Lifecycle[Any, Any]) -> Iterator[str]:
    yield f'<h2 id="{_anchor(lifecycle)}">{lifecycle.name}</h2>\n<p>{prose(lifecycle.meaning)}</p>'
    yield from _way(lifecycle)
    rows = []
    for trigger, rule in lifecycle.rules.items():
        by_after: dict[str, list[str]] = {}
        # A rule's states may come from a set, whose order changes from run to run.
        for state in lifecycle.states_before(trigger):
            after = rule.to[state]
            by_after.setdefault(after if after != state else "unchanged", []).append(state)
        for number, (after, before) in enumerate(by_after.items()):
            named = f"{code(trigger)}<br>{prose(rule.by)}" if number == 0 else ""
            target = after if after == "unchanged" else code(after)
            rows.append((named, ", ".join(map(code, before)), target))
    yield table(("Trigger", "From", "To"), rows, f"{lifecycle.name}: every transition")


def _anchor(lifecycle: Lifecycle[Any, Any]) -> str:
    return lifecycle.name.lower().replace(" ", "-")


def _way(lifecycle: Lifecycle[Any, Any]) -> Iterator[str]:
    """Yield the usual way as one straight line of states, with the ways off it, then the other states."""
    usual = USUAL_WAY[lifecycle]
    yield f'<ol class="way" aria-label="{lifecycle.name}: the usual way">'
    for number, state in enumerate(usual):
        after = usual[number + 1] if number + 1 < len(usual) else None
        step = f'<p class="step">{_causes(lifecycle, state, after)}</p>' if after else ""
        yield f"<li>{_state(lifecycle, state, 'usual')}{_exits(lifecycle, state, after)}{step}</li>"
    yield "</ol>"
    others = [state for state in lifecycle.states if state not in usual]
    if others:
        items = "".join(
            f"<li>{_state(lifecycle, state, 'other')}{_exits(lifecycle, state, None)}</li>" for state in others
        )
        yield f'<p class="note">Off the usual way:</p>\n<ul class="way">{items}</ul>'


def _state(lifecycle: Lifecycle[Any, Any], state: str, kind: str) -> str:
    """Return a state with its kind as a color and a word."""
    is_end = all(after == before for before, after in lifecycle.transitions if before == state)
    words = [word for word, holds in (("start", state == lifecycle.states[0]), ("end", is_end)) if holds]
    named = "".join(f" <small>{word}</small>" for word in words)
    return f'<span class="state {kind}">{code(state)}{named}</span>'


def _exits(lifecycle: Lifecycle[Any, Any], state: str, except_for: str | None) -> str:
    """Return the other states that follow a state, with the triggers of each."""
    afters = [
        one for one in lifecycle.states if one not in (state, except_for) and (state, one) in lifecycle.transitions
    ]
    items = (f"<li>to {code(after)}: {_triggers(lifecycle, state, after)}</li>" for after in afters)
    return f"<ul>{''.join(items)}</ul>" if afters else ""


def _triggers(lifecycle: Lifecycle[Any, Any], before: str, after: str) -> str:
    found = [trigger for trigger, rule in lifecycle.rules.items() if rule.to.get(before) == after]
    return ", ".join(trigger.replace("_", " ") for trigger in found)


def _causes(lifecycle: Lifecycle[Any, Any], before: str, after: str) -> str:
    """Return the triggers of a step, and who causes them."""
    by = dict.fromkeys(rule.by for rule in lifecycle.rules.values() if rule.to.get(before) == after)
    return f"{_triggers(lifecycle, before, after)} <small>by {'; '.join(prose(one) for one in by)}</small>"
