"""Writes of a rotation, and decisions of the check from the metrics."""

import json
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner

from operations.campusctl.app import app
from operations.rotation.measurements import Counted, counted_between
from operations.rotation.secret_store import VARIABLE_OF, RotationRefused, Secret, ended, may_encrypt, started, switched
from operations.rotation.trail import lines_of
from operations.rotation.verdict import Seen, Stretch, reasons_against

QUIET = Stretch(10_000, {401: 100, 403: 20})


# ---- What is written
# ----------------------------------------------------------------------------------------------------


def test_the_old_key_stays_valid_with_the_new_one_until_the_rotation_ends() -> None:
    kept = {"GATEWAY_SECRET_KEY": "old"}
    kept |= started(kept, Secret.gateway, "new", compromised=False)
    assert kept == {"GATEWAY_SECRET_KEY": "new", "GATEWAY_SECRET_KEY_PREVIOUS": "old"}
    with pytest.raises(RotationRefused, match="still valid"):
        started(kept, Secret.gateway, "newer", compromised=False)
    kept |= ended(kept, Secret.gateway)
    assert kept == {"GATEWAY_SECRET_KEY": "new", "GATEWAY_SECRET_KEY_PREVIOUS": ""}
    assert ended(kept, Secret.gateway) == {}


def test_the_hash_of_the_second_gateways_webhooks_has_a_previous_value_too() -> None:
    kept = {"FLUTTERWAVE_WEBHOOK_HASH": "old", "GATEWAY_SECRET_KEY": "other"}
    changed = started(kept, Secret.flutterwave, "new", compromised=False)
    assert changed == {"FLUTTERWAVE_WEBHOOK_HASH": "new", "FLUTTERWAVE_WEBHOOK_HASH_PREVIOUS": "old"}
    assert ended(kept | changed, Secret.flutterwave) == {"FLUTTERWAVE_WEBHOOK_HASH_PREVIOUS": ""}
    assert started(kept, Secret.flutterwave, "new", compromised=True)["FLUTTERWAVE_WEBHOOK_HASH_PREVIOUS"] == ""
    with pytest.raises(RotationRefused, match="NEW_SECRET"):
        started(kept, Secret.flutterwave, None, compromised=False)


def test_a_compromised_key_and_its_predecessor_are_both_removed() -> None:
    kept = {"SERVICE_ROLE_KEY": "known", "SERVICE_ROLE_KEY_PREVIOUS": "older"}
    changed = started(kept, Secret.service_role, None, compromised=True)
    assert changed["SERVICE_ROLE_KEY_PREVIOUS"] == ""
    assert changed["SERVICE_ROLE_KEY"] not in ("known", "older", "")


def test_a_value_that_a_provider_makes_is_never_made_up() -> None:
    for secret in (Secret.gateway, Secret.assistant):
        with pytest.raises(RotationRefused, match="NEW_SECRET"):
            started({}, secret, None, compromised=False)
    assert started({"AI_API_KEY": "old"}, Secret.assistant, "new", compromised=False) == {"AI_API_KEY": "new"}
    with pytest.raises(RotationRefused, match="in use"):
        started({"AI_API_KEY": "same"}, Secret.assistant, "same", compromised=False)


@pytest.mark.parametrize("secret", [Secret.encryption, Secret.pin])
def test_a_key_that_encrypts_is_readable_everywhere_before_it_writes(secret: Secret) -> None:
    name = VARIABLE_OF[secret]
    kept = {name: "old"}
    with pytest.raises(RotationRefused, match="begin"):
        switched(kept, secret)
    kept |= started(kept, secret, None, compromised=False)
    assert kept[name] == "old"
    new = kept[f"{name}_PREVIOUS"]
    assert new not in ("", "old")
    with pytest.raises(RotationRefused, match="still valid"):
        started(kept, secret, None, compromised=False)
    kept |= switched(kept, secret)
    assert (kept[name], kept[f"{name}_PREVIOUS"]) == (new, "old")
    with pytest.raises(RotationRefused, match="There is no new key"):
        switched(kept, secret)
    kept |= ended(kept, secret)
    assert kept == {name: new, f"{name}_PREVIOUS": "", f"{name}_PHASE": ""}


@pytest.mark.parametrize("secret", [Secret.encryption, Secret.pin])
def test_a_compromised_encrypting_key_writes_nothing_more_and_still_decrypts(secret: Secret) -> None:
    name = VARIABLE_OF[secret]
    kept = {name: "known"}
    kept |= started(kept, secret, "new", compromised=True)
    assert (kept[name], kept[f"{name}_PREVIOUS"]) == ("new", "known")
    # The one before is needed until nothing is under it.
    with pytest.raises(RotationRefused, match="re-encrypt"):
        started(kept, secret, "newer", compromised=True)


def test_a_started_rotation_of_a_key_that_encrypts_is_given_up_by_its_end() -> None:
    kept = {"SEALING_KEY": "old"}
    kept |= started(kept, Secret.encryption, "new", compromised=False)
    assert not may_encrypt(kept, Secret.encryption)
    assert may_encrypt({**kept, **switched(kept, Secret.encryption)}, Secret.encryption)
    kept |= ended(kept, Secret.encryption)
    assert kept == {"SEALING_KEY": "old", "SEALING_KEY_PREVIOUS": "", "SEALING_KEY_PHASE": ""}


def test_the_first_rotation_separates_what_the_release_before_shared() -> None:
    kept = {"SEALING_KEY": "shared", "SHARED_SEALING_KEY": "shared", "PIN_KEY": "pin"}
    with pytest.raises(RotationRefused, match="sealing-key first"):
        started(kept, Secret.pin, None, compromised=False)
    kept |= started(kept, Secret.encryption, "new", compromised=False)
    assert kept["SHARED_SEALING_KEY"] == "shared"
    kept |= switched(kept, Secret.encryption)
    assert (kept["SHARED_SEALING_KEY"], kept["SHARED_SEALING_KEY_PREVIOUS"]) == ("", "shared")
    kept |= ended(kept, Secret.encryption)
    assert kept["SHARED_SEALING_KEY_PREVIOUS"] == ""


# ---- What is decided
# ----------------------------------------------------------------------------------------------------


def test_without_a_spike_and_without_uses_the_old_one_may_go() -> None:
    assert reasons_against(Seen(QUIET, QUIET, {"service-role-key": 0}, {"campus_orders_api_a": 0})) == []


@pytest.mark.parametrize(
    ("before", "since", "is_spike"),
    [
        (Stretch(1000, {401: 10}), Stretch(1000, {401: 19}), False),
        (Stretch(1000, {401: 10}), Stretch(1000, {401: 31}), True),
        (Stretch(1000, {401: 1}), Stretch(1000, {401: 9}), False),
        (Stretch(1000, {}), Stretch(1000, {403: 11}), True),
        (Stretch(0, {}), Stretch(1000, {401: 5}), False),
        (Stretch(0, {}), Stretch(10, {401: 5}), True),
        (Stretch(1000, {401: 500}), Stretch(1000, {401: 600}), False),
    ],
)
def test_a_spike_is_twice_the_share_before_and_a_hundredth_more(
    before: Stretch, since: Stretch, is_spike: bool
) -> None:
    assert bool(reasons_against(Seen(before, since))) is is_spike


def test_a_request_with_the_old_key_keeps_it_alive() -> None:
    assert reasons_against(Seen(QUIET, QUIET, {"gateway-secret-key": 3})) == [
        "the previous gateway-secret-key was used 3 times lately"
    ]
    assert reasons_against(Seen(QUIET, QUIET, {}, {"campus_orders_api_a": 2})) == [
        "2 sessions are open with campus_orders_api_a"
    ]


def test_no_responses_fail_the_check() -> None:
    assert "the metrics prove nothing" in reasons_against(Seen(QUIET, Stretch(0)))[0]


def test_a_process_that_began_anew_counts_from_nothing() -> None:
    earlier = {"a": Counted(100, {401: 10, 403: 0}, {}), "b": Counted(50, {401: 5, 403: 0}, {"service-role-key": 4})}
    later = {"a": Counted(20, {401: 1, 403: 0}, {}), "b": Counted(60, {401: 5, 403: 0}, {"service-role-key": 6})}
    between = counted_between(earlier, later)
    assert (between.responses, between.refused, between.previous_uses) == (
        30,
        {401: 1, 403: 0},
        {"service-role-key": 2},
    )


# ---- The command
# --------------------------------------------------------------------------------------------------------


class Metrics(ThreadingHTTPServer):
    """A process's metrics endpoint and a Prometheus at once."""

    text = ""
    sums: Mapping[str, float] = {}
    queries: list[str]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Metrics

    def log_message(self, *_: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        queries = urlsplit(self.path)
        body = self.server.text
        if queries.path == "/api/v1/query":
            query = parse_qs(queries.query)["query"][0]
            self.server.queries.append(query)
            value = next((number for part, number in self.server.sums.items() if part in query), 0)
            row = {"metric": {"secret": "service-role-key"} if "by (secret)" in query else {}, "value": [0, str(value)]}
            body = json.dumps({"data": {"result": [row]}})
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())


@pytest.fixture
def metrics(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Metrics]:
    monkeypatch.setenv("STATE_DIR", str(tmp_path))
    server = Metrics(("127.0.0.1", 0), _Handler)
    server.queries = []
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def checked(*arguments: str) -> tuple[int, dict[str, object]]:
    ended_with = CliRunner().invoke(app, ["rotation", "check", "--json", *arguments])
    document = json.loads(ended_with.stdout)
    return ended_with.exit_code, document["data"] or document["error"]


def test_the_check_queries_prometheus_for_the_period_and_the_one_before(metrics: Metrics) -> None:
    metrics.sums = {
        'status="401"': 5,
        "previous_key": 0,
        "gateway_requests_total[": 1000,
        "gateway_requests_total": 900,
    }
    code, document = checked("--minutes", "30", "--prometheus", metrics.url)
    assert (code, document["mayRevoke"], document["answersSince"]) == (0, True, 1000)
    assert 'sum(increase(gateway_requests_total{status="401"}[1800s] offset 1800s))' in metrics.queries
    assert "sum by (secret) (increase(previous_key_accepted_total[300s]))" in metrics.queries
    metrics.sums = {**metrics.sums, "previous_key": 7}
    code, document = checked("--prometheus", metrics.url)
    assert (code, document["reasons"]) == (4, ["the previous service-role-key was used 7 times lately"])


def test_without_prometheus_the_endpoints_are_sampled_and_the_report_shows_it(metrics: Metrics) -> None:
    metrics.text = (
        'gateway_requests_total{route="/x",status="200"} 90\ngateway_requests_total{route="/x",status="401"} 10\n'
    )
    code, document = checked("--metrics", metrics.url, "--sample-seconds", "1")
    assert code == 4, "nothing was answered in the meantime"
    assert "sampled for 1 s at 1 processes" in str(document["how"])
    assert (document["answersBefore"], document["share401Before"]) == (100, 0.1)


def test_a_check_that_reaches_nothing_fails(metrics: Metrics) -> None:
    for option in ("--prometheus", "--metrics"):
        code, document = checked(option, "http://127.0.0.1:9", "--sample-seconds", "1")
        assert code == 3
        assert "127.0.0.1:9" in str(document["detail"])


# ---- The trail
# ----------------------------------------------------------------------------------------------------------


def test_the_trail_holds_the_audit_lines_of_the_time_about_the_key() -> None:
    def line(at: str, event: str, **more: str) -> str:
        return json.dumps({"at": at, "event": event, "service": "identity-api", "level": "info", **more})

    texts = [
        line("2026-11-21T09:59:59+00:00", "audit: service call let in", fingerprint="aa"),
        line("2026-11-21T10:00:01Z", "audit: service call let in", fingerprint="aa", path="/functions/v1/create-user"),
        line("2026-11-21T10:00:02Z", "audit: service call refused", fingerprint="bb"),
        line("2026-11-21T10:00:03Z", "loop failed", fingerprint="aa"),
        "audit: no line of ours",
        "pod/identity-api-7d9 " + line("2026-11-21T10:00:04Z", "audit: service call refused", fingerprint="aa"),
    ]
    since, until = datetime(2026, 11, 21, 10, tzinfo=UTC), datetime(2026, 11, 21, 11, tzinfo=UTC)
    found = list(lines_of(texts, since, until, "aa"))
    assert [(entry["what"], entry["detail"]) for entry in found] == [
        ("service call let in", {"fingerprint": "aa", "path": "/functions/v1/create-user"}),
        ("service call refused", {"fingerprint": "aa"}),
    ]
    assert len(list(lines_of(texts, since, until, None))) == 3
