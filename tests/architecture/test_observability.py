"""Every queried metric exists, and every alert fires and has its runbook."""

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from campus_tools.observability.expressions import labels_of, series_of
from campus_tools.observability.inventory import Metric, by_series, ours
from campus_tools.observability.objectives import BURNS, JOURNEY, OBJECTIVES, TARGET, WEBHOOKS, recordings, rule_file
from campus_tools.observability.programs import find_program
from campus_tools.observability.rules import FOLDER, RESPONSE, alerts, dashboards, rules
from common.messaging import republishing
from common.messaging.topology import declared_topology, delay_queue_of
from common.primitives.retry import DELAYS_SECONDS, RetryLadder
from common.web.endpoint_table import read_routes
from testkit.cases import for_each
from tests.architecture.compose import compose
from tests.architecture.sources import ROOT, SERVICES, dotted, nodes_of, product_files, tree_of

RUNBOOKS = ROOT / "docs/runbooks"
PAGES = sorted(RUNBOOKS.glob("*.md"))
COMPOSE = compose()["services"]
WATCHING = {"prometheus", "alertmanager", "grafana", "traces"}
PANELS = [(board["title"], panel) for board in dashboards() for panel in board["panels"]]
RECORDED = {rule["record"] for rule in rules() if "record" in rule}
REQUESTED = [
    *((rule.get("alert") or rule["record"], rule["expr"]) for rule in rules()),
    *((f"{title}: {panel['title']}", target["expr"]) for title, panel in PANELS for target in panel["targets"]),
]
pages = for_each("page", PAGES, ids=lambda path: path.stem)
requested = for_each(("where", "expression"), REQUESTED)


# ---- What is generated
# ------------------------------------------------------------------------------------------------


def test_the_rules_of_the_objectives_are_up_to_date() -> None:
    assert TARGET.read_text() == rule_file(), "run `make documents`"


def test_every_metric_is_in_the_inventory() -> None:
    known = {metric.name for metric in ours()}
    for path in product_files():
        for name, kind in metrics_made_in(path):
            shown = f"{name.removesuffix('_total')}_total" if kind.startswith("Counter") else name
            assert shown in known, f"{path}: {name}"


def test_every_metric_has_a_meaning_and_an_owner() -> None:
    for metric in ours():
        assert metric.meaning, metric.name
        assert metric.holder in (*SERVICES, "every process")


# ---- Names
# ------------------------------------------------------------------------------------------------------------


@requested
def test_every_queried_series_exists(where, expression) -> None:
    assert series_of(expression) - RECORDED <= set(by_series()), where


@requested
def test_every_queried_label_exists(where, expression) -> None:
    known = {"slo"} if series_of(expression) & RECORDED else set()
    for name in series_of(expression) - RECORDED:
        known |= by_series()[name].known_labels
    assert labels_of(expression) <= known, where


def test_an_expression_is_parsed_like_prometheus_does() -> None:
    expression = (
        'sum by (service, le) (rate(a_total{route=~"b_total|c",status!="5.."}[5m])) / on (service) group_left (x)'
        " d:e:rate5m unless f{} > bool 0 or max_over_time(g[1h:5m] offset 3d) and vector(1) == 1e3 * 2"
    )
    assert series_of(expression) == {"a_total", "d:e:rate5m", "f", "g"}
    assert labels_of(expression) == {"service", "le", "route", "status", "x"}


def test_a_histogram_is_queried_by_its_parts() -> None:
    metric = Metric("a_seconds", "histogram", ("route",), "", "orders")
    assert metric.series == {"a_seconds_bucket", "a_seconds_count", "a_seconds_sum"}
    assert "a_seconds" not in by_series()
    assert "le" in metric.known_labels


def test_the_route_of_the_webhook_and_the_queues_of_the_journey_exist() -> None:
    assert set(WEBHOOKS) <= {route.name for route in read_routes()}
    queues = set(declared_topology(RetryLadder(DELAYS_SECONDS)).bindings)
    journey = JOURNEY.replace("\\\\", "\\")
    assert {queue for queue in queues if re.fullmatch(journey, queue)} == {
        "orders.payments",
        "payments.orders",
        "payments.webhooks",
        "payouts.payments",
    }


def test_every_queue_except_delays_needs_consumers() -> None:
    patterns = {rule["alert"]: re.findall(r'queue[!=]~"([^"]*)"', rule["expr"]) for rule in alerts()}
    consumed, delays = (patterns[name][0].replace("\\\\", "\\") for name in ("queue-without-consumer", "queue-length"))
    for queue in declared_topology(RetryLadder(DELAYS_SECONDS)).bindings:
        assert re.fullmatch(consumed, queue)
        assert not re.fullmatch(delays, queue)
    for seconds in DELAYS_SECONDS:
        assert re.fullmatch(delays, delay_queue_of(seconds))
        assert not re.fullmatch(consumed, delay_queue_of(seconds))


@pytest.mark.parametrize(
    "bound", sorted({bound for _, text in REQUESTED for bound in re.findall(r'(\w+)_bucket\{[^}]*le="([\d.]+)"', text)})
)
def test_the_bounds_of_the_objectives_are_bounds_of_their_histograms(bound) -> None:
    name, seconds = bound
    sources = {
        "gateway_request_seconds": SERVICES["api-gateway"] / "metrics.py",
        "message_lag_seconds": ROOT / "libs/common/src/common/observability/telemetry.py",
    }
    listed = {
        float(part.value)
        for node in ast.walk(tree_of(sources[name]))
        if isinstance(node, ast.Tuple)
        for part in node.elts
        if isinstance(part, ast.Constant) and isinstance(part.value, int | float)
    }
    assert str(float(seconds)) == seconds
    assert float(seconds) in listed


# ---- Alerts
# -----------------------------------------------------------------------------------------------------------


@for_each("rule", alerts(), ids=lambda rule: f"{rule['alert']} {rule['labels']['severity']}")
def test_every_alert_has_a_severity_its_time_and_its_page(rule) -> None:
    severity = rule["labels"]["severity"]
    page = " ".join((RUNBOOKS / f"{rule['alert']}.md").read_text().split())
    assert rule["labels"] == {"severity": severity}
    assert set(rule["annotations"]) == {"summary", "respond_within", "runbook"}
    assert rule["annotations"]["respond_within"] == RESPONSE[severity]
    assert rule["annotations"]["runbook"] == f"docs/runbooks/{rule['alert']}.md"
    assert severity in page
    assert RESPONSE[severity] in page


def test_the_times_to_respond_are_those_of_the_specification() -> None:
    assert RESPONSE == {"SEV-1": "15 minutes", "SEV-2": "1 hour", "SEV-3": "4 hours"}


def test_every_alert_fires_in_a_rule_test_with_each_of_its_severities() -> None:
    fired = set()
    for path in (FOLDER / "prometheus/tests").glob("*.yml"):
        for test in yaml.load(path.read_text(), yaml.CSafeLoader)["tests"]:
            for query in test.get("promql_expr_test", []):
                for sample in query["exp_samples"]:
                    names = re.findall(r'alertname="([^"]+)"', sample["labels"] + query["expr"])
                    severity = re.search(r'severity="([^"]+)"', sample["labels"])
                    fired.add((names[0] if names else "", severity[1] if severity else ""))
    rules = {(rule["alert"], rule["labels"]["severity"]) for rule in alerts()}
    assert rules - fired == set()


def test_the_windows_of_a_burn_are_those_that_are_recorded() -> None:
    windows = {rule["record"].rpartition("rate")[2] for rule in recordings() if "rate" in rule["record"]}
    assert {window for long, short, _, _ in BURNS for window in (long, short)} <= windows
    assert all(0 < objective.budget < 0.5 for objective in OBJECTIVES)


def test_prometheus_accepts_the_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """promtool, found or installed. Without it a message reports that its tests did not run."""
    promtool = found("promtool", "THE RULES WERE NOT RUN", capsys)
    if promtool is None:
        return
    rules, tests = (
        [str(path) for path in sorted((FOLDER / "prometheus" / name).glob("*.yml"))] for name in ("rules", "tests")
    )
    assert rules
    assert tests
    # Go collects its garbage rarely: a fifth less CPU.
    environment = {**os.environ, "GOGC": "400"}
    for command in (["check", "rules", *rules], ["test", "rules", *tests]):
        done = subprocess.run([promtool, *command], capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr


def test_prometheus_parses_the_query_of_every_panel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A panel with a misspelt function only stays empty."""
    promtool = found("promtool", "THE PANELS WERE NOT READ", capsys)
    if promtool is None:
        return
    requested = [target["expr"] for _, panel in PANELS for target in panel["targets"]]
    assert len(requested) > 60
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(requested)]
    file = tmp_path / "panels.yml"
    file.write_text(yaml.dump({"groups": [{"name": "panels", "rules": rules}]}, Dumper=yaml.CSafeDumper))
    done = subprocess.run([promtool, "check", "rules", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- Runbooks
# ---------------------------------------------------------------------------------------------------------


@pages
def test_a_page_names_commands_that_exist(page) -> None:
    text = page.read_text()
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", text)) <= targets
    # As written, such a line lacks every setting; the operators' command line gives them.
    assert "`python -m" not in text
    assert "    python -m" not in text
    for service, command in re.findall(r"campusctl service (\w+) ([a-z-]+)", text):
        assert command in commands_of("orders" if service == "SERVICE" else service)
    for process, command in re.findall(r"docker compose exec (\S+) start ([a-z-]+)", text):
        assert command in commands_of(process)


@pages
def test_a_page_names_containers_that_exist(page) -> None:
    text = page.read_text()
    for named in re.findall(
        r"docker compose (?:exec|restart|logs(?: --\S+ \S+)*|ps|run --rm)((?: [a-z<][a-z<>-]*)+)", text
    ):
        first, *others = named.split()
        everyone = [first, *(other for other in others if other in (*SERVICES, "<service>"))]
        for name in everyone:
            for service in SERVICES if "<service>" in name else ("",):
                expected = name.replace("<service>", service)
                known = expected in COMPOSE or expected == "<process>" or expected.startswith("api-gateway-")
                assert known, f"{page.stem}: {name}"


@pages
def test_a_page_names_endpoints_that_exist(page) -> None:
    endpoints = {(route.method, route.path) for route in read_routes()}
    for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/api/[^`? ]*)", page.read_text()):
        shown = re.sub(r":[A-Za-z]+", ":", path)
        assert (method, shown) in {
            (known, re.sub(r"\{\w+\}|:[A-Za-z]+", ":", template)) for known, template in endpoints
        }, path


@pages
def test_a_page_links_to_pages_that_exist(page) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pages
def test_a_page_names_dashboards_and_panels_that_exist(page) -> None:
    known = {name for title, panel in PANELS for name in (title, panel["title"])}
    for named in re.findall(r"(?<!\*)\*([A-Z][^*]+)\*(?!\*)", " ".join(page.read_text().split())):
        assert named in known, named


# ---- The programs around
# ----------------------------------------------------------------------------------------------


def test_prometheus_scrapes_every_process() -> None:
    jobs = {job["job_name"]: job for job in settings_of("prometheus/prometheus.yml")["scrape_configs"]}
    apart = settings_of("prometheus-workers.yml")["scrape_configs"]
    requested_by = {}
    for group in [*jobs["campus"]["static_configs"], *apart[0]["static_configs"]]:
        (target,) = group["targets"]
        host, port = target.split(":")
        assert group["labels"]["process"] == host
        assert host == group["labels"]["service"] or host.rpartition("-")[0] == group["labels"]["service"]
        requested_by[host] = port
    running = {name for name, part in COMPOSE.items() if part.get("command") in ("api", "worker", "all")}
    assert set(requested_by) == running
    assert {name for name, port in requested_by.items() if port != "8080"} == {"api-gateway"}
    assert requested_by["api-gateway"] == str(COMPOSE["api-gateway"]["environment"]["METRICS_PORT"])


def test_each_severity_has_its_route_and_is_repeated_within_its_time() -> None:
    settings = settings_of("alertmanager/alertmanager.yml")
    receivers = {receiver["name"] for receiver in settings["receivers"]}
    routes = {line["matchers"][0].split('"')[1]: line for line in settings["route"]["routes"]}
    assert set(routes) == set(RESPONSE)
    for severity, line in routes.items():
        assert line["receiver"] == severity.lower()
        assert line["receiver"] in receivers
        repeated = line.get("repeat_interval", settings["route"]["repeat_interval"])
        number, unit = RESPONSE[severity].split()
        assert repeated == number + unit[0]


def test_alertmanager_routes_each_severity(capsys: pytest.CaptureFixture[str]) -> None:
    """Where amtool can be had, as for the rules."""
    amtool = found("amtool", "THE ROUTES OF THE ALERTS WERE NOT RUN", capsys)
    if amtool is None:
        return
    settings = str(FOLDER / "alertmanager/alertmanager.yml")
    route = ["config", "routes", "test", f"--config.file={settings}"]
    for command in (
        ["check-config", settings],
        *(
            [*route, f"--verify.receivers={severity.lower()}", f"severity={severity}", "alertname=x", "service=orders"]
            for severity in RESPONSE
        ),
    ):
        done = subprocess.run([amtool, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_an_alert_mail_links_to_its_alert() -> None:
    for name in ("prometheus", "alertmanager"):
        [address] = [part for part in COMPOSE[name]["command"] if part.startswith("--web.external-url=")]
        [published] = COMPOSE[name]["ports"]
        assert address.removeprefix("--web.external-url=http://localhost:") == re.findall(r"\$\{.*?\}", published)[0]


def test_the_monitoring_programs_start_on_request_only() -> None:
    assert {name for name, part in COMPOSE.items() if part.get("profiles") == ["observability"]} == WATCHING
    for name, part in COMPOSE.items():
        assert name in WATCHING or not WATCHING & set(part.get("depends_on", {}))


def test_the_mounts_of_the_monitoring_programs_exist() -> None:
    mounts = [mount for name in WATCHING for mount in COMPOSE[name].get("volumes", []) if mount.startswith("./")]
    assert mounts
    for mount in mounts:
        source, _, rights = mount.split(":")
        assert (ROOT / source).is_dir()
        assert rights == "ro"


def test_every_panel_has_a_provisioned_data_source() -> None:
    sources = settings_of("grafana/provisioning/datasources/campus.yml")["datasources"]
    provisioned = [{"type": source["type"], "uid": source["uid"]} for source in sources]
    assert all(part["datasource"] in provisioned for _, panel in PANELS for part in (panel, *panel["targets"]))
    for source in sources:
        assert re.fullmatch(r"http://(\w+):\d+", source["url"])[1] in WATCHING


@pytest.mark.parametrize("board", dashboards(), ids=lambda board: board["uid"])
def test_every_dashboard_is_laid_out_without_overlaps(board) -> None:
    recorded: set[tuple[int, int]] = set()
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {(place["x"] + right, place["y"] + down) for right in range(place["w"]) for down in range(place["h"])}
        assert not cells & recorded
        recorded |= cells
        assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


def test_every_dashboard_is_read_only_and_in_the_menu_of_the_others() -> None:
    for board in dashboards():
        assert (board["editable"], board["tags"], board["timezone"]) == (False, ["campus"], "utc"), board["uid"]
        assert (FOLDER / f"grafana/dashboards/{board['uid']}.json").is_file()


def found(program: str, otherwise: str, capsys) -> str | None:
    output: list[str] = []
    path = find_program(program, output.append)
    if path is None:
        with capsys.disabled():
            sys.stdout.write(f"\n{otherwise}: {output[-1]}\n")
    return path


def settings_of(name: str):
    return yaml.load((FOLDER / name).read_text(), yaml.CSafeLoader)


def commands_of(module: str) -> set[str]:
    service = importlib.import_module(f"{module.replace('-', '_')}.app").SERVICE
    return {"api", "worker", "all", "migrate", republishing.COMMAND, *service.commands}


def metrics_made_in(path: Path):
    """Name and kind of each metric that the file makes under a name written out."""
    kinds = {
        alias.name
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("prometheus_client")
        for alias in node.names
    }
    # The gateway's own shorthand for a counter with one label.
    kinds |= {"_counter"} if "CounterMetricFamily" in kinds else set()
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and (kind := dotted(node.func)) in kinds and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield first.value, kind.lstrip("_").capitalize() if kind == "_counter" else kind
