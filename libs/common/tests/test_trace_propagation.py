"""The trace id passes from request to message to log line, also while no span is recorded."""

import asyncio
import re
from importlib.metadata import version

import pytest
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.sdk.trace import TracerProvider
from prometheus_client import REGISTRY

from common.observability import telemetry
from common.observability.sampling import sampler_named

CONTINUED = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACEPARENT = re.compile(r"00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}")


def test_a_span_continues_the_received_trace_until_it_ends() -> None:
    with telemetry.span("work", headers={"traceparent": CONTINUED}):
        assert telemetry.trace_headers() == {"traceparent": CONTINUED}
        assert telemetry.trace_id() == "0af7651916cd43dd8448eb211c80319c"
        with telemetry.span("inner", headers={}):
            assert telemetry.trace_id() != "0af7651916cd43dd8448eb211c80319c"
        assert telemetry.trace_headers() == {"traceparent": CONTINUED}
    assert telemetry.trace_id() is None


@pytest.mark.parametrize(
    "offered",
    [None, "", "x", CONTINUED + "\r\nx: y", CONTINUED.upper(), "00-" + "0" * 32 + CONTINUED[35:], "ff" + CONTINUED[2:]],
)
def test_an_invalid_trace_context_starts_a_new_trace(offered) -> None:
    continued = {} if offered is None else {"traceparent": offered}
    with telemetry.span("work", headers=continued):
        [started] = telemetry.trace_headers().values()
        assert TRACEPARENT.fullmatch(started)
        assert started != offered
        assert telemetry.trace_id() == started[3:35]


def test_work_without_a_request_starts_a_new_trace_each_time() -> None:
    first, second = telemetry.trace_headers(), telemetry.trace_headers()
    assert TRACEPARENT.fullmatch(first["traceparent"])
    assert first != second


async def test_concurrent_requests_have_separate_traces() -> None:
    async def request(number: int) -> str | None:
        telemetry.continue_trace(f"00-{number:032x}-b7ad6b7169203331-00")
        await asyncio.sleep(0)
        return telemetry.trace_id()

    assert await asyncio.gather(*(request(number) for number in (1, 2))) == [f"{1:032x}", f"{2:032x}"]


def test_a_process_reports_its_release_as_a_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    telemetry.BUILD_INFO.clear()
    telemetry.start("orders-api")
    assert REGISTRY.get_sample_value("build_info", {"version": version("campus-common")}) == 1


def test_a_sampler_records_some_traces_in_a_second_and_all_spans_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("common.observability.sampling.time.monotonic", lambda: 7.9)
    sampler = sampler_named("parentbased_per_second", "2")
    assert sampler is not None
    provider = TracerProvider(sampler)
    tracer = provider.get_tracer("test")
    roots = [tracer.start_span("root", Context()) for _ in range(4)]
    assert [root.is_recording() for root in roots] == [True, True, False, False]
    children = [tracer.start_span("child", trace.set_span_in_context(root)) for root in roots]
    assert [child.is_recording() for child in children] == [True, True, False, False]
    monkeypatch.setattr("common.observability.sampling.time.monotonic", lambda: 8.0)
    assert tracer.start_span("root", Context()).is_recording()


@pytest.mark.parametrize("argument", ["", "0", "-1", "2.5", "many", "\u0662"])
def test_a_sampler_refuses_a_wrong_argument(argument: str) -> None:
    assert sampler_named("parentbased_always_on", argument) is None
    with pytest.raises(ValueError, match="OTEL_TRACES_SAMPLER_ARG"):
        sampler_named("parentbased_per_second", argument)
