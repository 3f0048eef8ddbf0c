"""`campusctl secrets new` creates every secret of a cluster once, in the form of its store."""

import json
import stat
from pathlib import Path

import pytest
import yaml

from common.primitives.signatures import SigningKey, VerifyKeys
from operations.cluster_secrets import (
    Cluster,
    SecretsRefused,
    Servers,
    StoreForm,
    Target,
    new_values,
    read_supplied,
    secret_of,
    write_new,
)
from operations.secret_table import KEYS_OF_PURPOSES, SECRETS
from operations.secrets import load_secrets, read_secrets

MANIFESTS = Path(__file__).parents[2] / "deploy" / "k8s"


PRODUCTION, STAGING = Cluster(Target.production), Cluster(Target.staging)
CLUSTERS = [Cluster(target, servers) for target in Target for servers in Servers]


def supplied(cluster: Cluster) -> dict[str, str]:
    return {row.name: f"given-{row.name}" for row in cluster.rows() if cluster.is_supplied(row)}


def test_names_are_unique_within_an_entry() -> None:
    places = [(entry, row.key) for row in SECRETS for entry in row.entries]
    assert len(places) == len(set(places))
    local = [row.name for row in SECRETS if row.is_local]
    assert len(local) == len(set(local))


def test_make_run_creates_the_local_rows_of_the_table(tmp_path: Path) -> None:
    local = {row.name for row in SECRETS if row.is_local and (not row.issued_by or row.in_staging is not None)}
    assert set(load_secrets(tmp_path, {})) == local | {"SHARED_SEALING_KEY"}


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_generated_values_differ(cluster: Cluster) -> None:
    entries, _ = new_values(cluster, supplied(cluster))
    made = [
        value
        for properties in entries.values()
        for name, value in properties.items()
        if value and not value.startswith("given-") and name not in ("login", "SMTP_URL", "BOOTSTRAP_ADMIN_EMAIL")
    ]
    assert len(made) == len(set(made)) > 50
    assert all(len(value) >= 32 for value in made)
    assert all(entries[entry][name] for name in KEYS_OF_PURPOSES for entry in entries if name in entries[entry])


def test_payouts_verifies_what_payments_signs() -> None:
    entries, _ = new_values(STAGING, supplied(STAGING))
    key = SigningKey(entries["campus/payments"]["RELEASE_SIGNING_KEY"])
    [public] = entries["campus/payouts"]["RELEASE_VERIFY_KEYS"].split(",")
    assert VerifyKeys([public]).verify(key.id, b"a message", key.sign(b"a message"))


def test_previous_keys_exist_and_are_empty() -> None:
    entries, _ = new_values(STAGING, supplied(STAGING))
    previous = [value for values in entries.values() for name, value in values.items() if name.endswith("_PREVIOUS")]
    assert len(previous) > 8
    assert set(previous) == {""}


def test_a_missing_value_is_named_with_its_issuer(tmp_path: Path) -> None:
    given = supplied(PRODUCTION)
    del given["GATEWAY_SECRET_KEY"]
    with pytest.raises(SecretsRefused, match=r"GATEWAY_SECRET_KEY \(Paystack"):
        write_new(tmp_path / "out", StoreForm.external_secrets, PRODUCTION, given, MANIFESTS)
    assert not list(tmp_path.iterdir())


def test_an_unknown_supplied_name_is_refused() -> None:
    with pytest.raises(SecretsRefused, match="GATEWAY_KEY"):
        new_values(STAGING, {**supplied(STAGING), "GATEWAY_KEY": "a slip"})


def test_staging_needs_no_account_of_a_provider() -> None:
    assert set(supplied(STAGING)) == {
        "AI_API_KEY",
        "MEDIA_S3_ACCESS_KEY",
        "MEDIA_S3_SECRET_KEY",
        "BACKUP_ACCESS_KEY_ID",
        "BACKUP_SECRET_ACCESS_KEY",
        "DNS_TOKEN",
        "OIDC_PROVIDERS",
    }


def test_production_has_no_demo_account() -> None:
    entries, _ = new_values(PRODUCTION, supplied(PRODUCTION))
    assert not [name for values in entries.values() for name in values if name.startswith("DEMO_")]


@pytest.mark.parametrize("form", StoreForm)
def test_secrets_are_written_once_and_for_their_owner_alone(form: StoreForm, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    files = write_new(folder, form, PRODUCTION, supplied(PRODUCTION), MANIFESTS)
    before = {path: path.read_text() for path in files}
    assert files
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*/")]} == {0o700}
    with pytest.raises(SecretsRefused, match="not empty"):
        write_new(folder, form, PRODUCTION, supplied(PRODUCTION), MANIFESTS)
    assert {path: path.read_text() for path in files} == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_external_secrets_gets_a_document_for_each_entry(tmp_path: Path) -> None:
    write_new(tmp_path / "out", StoreForm.external_secrets, STAGING, supplied(STAGING), MANIFESTS)
    database = json.loads((tmp_path / "out/campus/orders-database.json").read_text())
    assert database.keys() == {"login", "owner", "api_a", "api_b", "service_a", "service_b", "audit"}
    assert database["login"] == "a"


def test_kubeseal_gets_the_secrets_that_external_secrets_would_create(tmp_path: Path) -> None:
    write_new(tmp_path / "out", StoreForm.kubeseal, PRODUCTION, supplied(PRODUCTION), MANIFESTS)
    secret = yaml.safe_load((tmp_path / "out/orders-database.yaml").read_text())
    role = yaml.safe_load((tmp_path / "out/orders-database-role-api-a.yaml").read_text())
    password = role["stringData"]["password"]
    address = f"postgresql://campus_orders_api_a:{password}@orders-pooler:5432/campus_orders"
    assert secret["stringData"]["API_DATABASE_URL"].partition("?")[0] == address
    assert role["type"] == "kubernetes.io/basic-auth"
    assert role["metadata"]["labels"]["cnpg.io/reload"] == "true"
    assert secret["metadata"]["namespace"] == "campus"


def test_a_password_is_encoded_in_an_address() -> None:
    external = {
        "metadata": {"name": "it"},
        "spec": {
            "target": {"template": {"data": {"URL": "amqp://it:{{ .password | urlquery }}@broker:5672/"}}},
            "data": [{"secretKey": "password", "remoteRef": {"key": "campus/broker", "property": "it"}}],
        },
    }
    secret = secret_of(external, {"campus/broker": {"it": "a/b c@d"}})
    assert secret["stringData"] == {"URL": "amqp://it:a%2Fb+c%40d@broker:5672/"}


def test_an_unknown_form_of_a_template_is_an_error() -> None:
    external = {
        "metadata": {"name": "it"},
        "spec": {
            "target": {"template": {"data": {"URL": "{{ .password | toJson }}"}}},
            "data": [{"secretKey": "password", "remoteRef": {"key": "campus/broker", "property": "it"}}],
        },
    }
    with pytest.raises(ValueError, match="toJson"):
        secret_of(external, {"campus/broker": {"it": "any"}})


def test_variables_start_a_system_of_one_machine(tmp_path: Path) -> None:
    write_new(tmp_path / "out", StoreForm.env, STAGING, supplied(STAGING), MANIFESTS)
    written = read_secrets(tmp_path / "out/secrets.env")
    assert written["SEALING_KEY"]
    assert not written.keys() & KEYS_OF_PURPOSES.keys(), "derived from SEALING_KEY"
    loaded = load_secrets(tmp_path / "state", written)
    assert {name: loaded[name] for name in loaded.keys() & written.keys()} == {
        name: written[name] for name in loaded.keys() & written.keys()
    }
    assert not loaded.keys() - written.keys() - {"SHARED_SEALING_KEY", "CAMPUS_AUDIT_PASSWORD"}


def test_a_filled_list_of_supplied_values_is_read(tmp_path: Path) -> None:
    path = tmp_path / "supplied.env"
    path.write_text("# calls (required): the dashboard\nGATEWAY_SECRET_KEY='sk_live a'\nAI_API_KEY=\n")
    assert read_supplied(path) == {"GATEWAY_SECRET_KEY": "sk_live a"}
    with pytest.raises(SecretsRefused, match="no file"):
        read_supplied(tmp_path / "another")
