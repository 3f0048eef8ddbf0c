"""A sampler for one machine. Import it only where spans are recorded: the SDK costs about 4 MiB."""

import math
import time
from collections.abc import Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, TraceState
from opentelemetry.util.types import Attributes

PER_SECOND: Final = "parentbased_per_second"


class PerSecond(Sampler):
    """Record at most so many new traces in a second: a person sees all of theirs, a load test pays for a few."""

    def __init__(self, traces_max: int) -> None:
        self._traces_max = traces_max
        self._second, self._recorded = 0, 0

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        second = math.floor(time.monotonic())
        if second != self._second:
            self._second, self._recorded = second, 0
        self._recorded += 1
        is_recorded = self._recorded <= self._traces_max
        return SamplingResult(Decision.RECORD_AND_SAMPLE if is_recorded else Decision.DROP, attributes, trace_state)

    def get_description(self) -> str:
        return f"PerSecond{{{self._traces_max}}}"


def sampler_named(name: str, argument: str) -> Sampler | None:
    """Return the sampler of `OTEL_TRACES_SAMPLER` and its argument; None leaves the choice to the SDK.

    Raises ValueError when the argument is not a positive integer.
    """
    if name != PER_SECOND:
        return None
    if not (argument.isascii() and argument.isdigit() and int(argument)):
        raise ValueError(f"OTEL_TRACES_SAMPLER_ARG must be a positive integer for {PER_SECOND}")
    return ParentBased(PerSecond(int(argument)))
