"""docker-compose.scale.yml adds to docker-compose.yml a second instance of each process and servers that replicate."""

import re

import yaml

from operations.provision import database_url
from tests.architecture.compose import compose
from tests.architecture.sources import ROOT


class _Loader(yaml.SafeLoader):
    """Reads the tags of Compose for merging, `!reset` and `!override`, as what they hold."""


def _plain(loader: yaml.SafeLoader, node: yaml.Node) -> object:
    return loader.construct_sequence(node) if isinstance(node, yaml.SequenceNode) else None


for tag in ("!reset", "!override"):
    _Loader.add_constructor(tag, _plain)

BASE = yaml.load((ROOT / "docker-compose.yml").read_text(), yaml.CSafeLoader)
SCALE = yaml.load((ROOT / "docker-compose.scale.yml").read_text(), _Loader)
PARTS = SCALE["services"]
COMPOSE = compose()
NODES = ["rabbitmq", "rabbitmq-2", "rabbitmq-3"]


def names_of(key: str) -> set[str]:
    return set(BASE.get(key, {})) | set(SCALE.get(key, {}))


def test_every_process_runs_twice() -> None:
    processes = {name for name, part in BASE["services"].items() if part.get("command") in ("api", "worker", "all")}
    assert processes == {name for name, part in PARTS.items() if part.get("deploy") == {"replicas": 2}}


def test_workers_run_apart_from_requests() -> None:
    for name, part in BASE["services"].items():
        if part.get("command") == "all":
            assert PARTS[name]["command"] == "api"
            assert PARTS[f"{name}-worker"]["profiles"] == []


def test_the_gateways_share_their_port_by_a_balancer() -> None:
    assert PARTS["api-gateway"]["ports"] == []
    assert PARTS["balancer"]["ports"] == BASE["services"]["api-gateway"]["ports"]


def test_the_gateways_trust_the_balancer_and_the_console_and_no_network() -> None:
    assert PARTS["api-gateway"]["environment"]["TRUSTED_PROXIES"] == "${TRUSTED_PROXIES:-balancer,console}"


def test_the_nodes_form_one_cluster_under_one_name() -> None:
    listed = re.findall(r"classic_config\.nodes\.\d = rabbit@(\S+)", SCALE["configs"]["rabbitmq-cluster"]["content"])
    assert listed == NODES
    for name in NODES:
        assert PARTS[name]["hostname"] == name
        assert PARTS[name]["networks"]["inside"]["aliases"] == ["broker"]
    assert PARTS["secrets"]["environment"]["BROKER_URL"] == "amqp://campus@broker:5672/"


def test_queues_are_declared_and_rows_written_after_the_replicas_have_joined() -> None:
    needed = PARTS["provision"]["depends_on"]
    assert {"rabbitmq-2", "rabbitmq-3", "postgres-synchronous"} == set(needed)
    assert needed["postgres-synchronous"] == {"condition": "service_completed_successfully"}
    assert set(PARTS["postgres-synchronous"]["depends_on"]) == {"postgres-replica"}


def test_a_process_uses_the_server_that_accepts_writes() -> None:
    address = database_url(PARTS["secrets"]["environment"]["DATABASE_URL"], role="one", password="x", database="other")
    hosts = "postgres:5432,postgres-replica:5432"
    assert address == f"postgresql://one:x@{hosts}/other?target_session_attrs=primary"


def test_every_named_part_exists() -> None:
    for name, part in PARTS.items():
        assert set(part.get("depends_on", {})) <= names_of("services"), name
        volumes = {mount.partition(":")[0] for mount in part.get("volumes", [])}
        assert {volume for volume in volumes if not volume.startswith("./")} <= names_of("volumes"), name
        assert all((ROOT / volume).is_file() for volume in volumes if volume.startswith("./")), name
        assert set(part.get("networks", [])) <= names_of("networks"), name
        assert {config["source"] for config in part.get("configs", [])} <= names_of("configs"), name
        assert name in COMPOSE["services"] or "image" in part, name


def test_replicated_servers_have_the_images_of_the_single_ones() -> None:
    for copy, original in (("postgres-replica", "postgres"), ("rabbitmq-2", "rabbitmq"), ("rabbitmq-3", "rabbitmq")):
        assert PARTS[copy]["image"] == PARTS[original]["image"] == BASE["services"][original]["image"]
