"""The list of identity providers: faults that stop the start, and its hidden secrets."""

import json
from typing import Any

import pytest

from identity.domain.oidc import proposed_roles
from identity.settings import OidcProviderEntry, Settings

SECRET = "a secret of the client"
VALUES = {
    "port": "1",
    "jwks_url": "http://identity:1/.well-known/jwks.json",
    "api_database_url": "postgresql://a@b/c",
    "service_database_url": "postgresql://a@b/c",
    "broker_url": "amqp://a@b",
    "cursor_key": "a cursor key for tests",
    "credentials_key": "a key of credentials for tests",
    "code_delivery_key": "a key of codes for tests",
    "service_role_key": "a-service-role-key-for-tests",
}


def provider(**changes: Any) -> dict[str, Any]:
    entry = {
        "name": "school",
        "issuer": "https://login.school.example",
        "clientId": "campus",
        "clientSecret": SECRET,
        "emailDomains": ["School.example"],
    }
    return {name: value for name, value in (entry | changes).items() if value is not None}


def set_environment(monkeypatch: pytest.MonkeyPatch, providers: str, **more: str) -> None:
    for name, value in {**VALUES, "oidc_providers": providers, **more}.items():
        monkeypatch.setenv(name.upper(), value)


BAD: dict[str, tuple[str, str]] = {
    "no JSON": (f'[{{"clientSecret": "{SECRET}"', "must be a JSON list"),
    "no list": (json.dumps(provider()), "valid tuple"),
    "an unknown member": (json.dumps([provider(scopes=["groups"])]), "not permitted"),
    "no secret": (json.dumps([provider(clientSecret=None)]), "Field required"),
    "an empty secret": (json.dumps([provider(clientSecret="")]), "at least 1"),
    "no domain": (json.dumps([provider(emailDomains=[])]), "at least 1"),
    "an address in place of a domain": (json.dumps([provider(emailDomains=["a@school.example"])]), "mail domains"),
    "a name that a path cannot hold": (json.dumps([provider(name="school/1")]), "pattern"),
    "a name twice": (json.dumps([provider(), provider()]), "listed once"),
    "an issuer by http": (json.dumps([provider(issuer="http://login.school.example")]), "https address"),
    "an issuer of this machine": (json.dumps([provider(issuer="http://127.0.0.1:9000")]), "https address"),
    "a group of a role that needs a campus": (
        json.dumps([provider(groupsClaim={"claim": "groups", "roles": {"deans": "campus_admin"}})]),
        "no campus or hub",
    ),
    "a group of a role of buyers": (
        json.dumps([provider(groupsClaim={"claim": "groups", "roles": {"students": "buyer"}})]),
        "no campus or hub",
    ),
    "a claim without a role": (json.dumps([provider(groupsClaim={"claim": "groups", "roles": {}})]), "at least 1"),
    "an issuer with a query": (json.dumps([provider(issuer="https://login.school.example?a=b")]), "pattern"),
}


@pytest.mark.parametrize("fault", BAD)
def test_an_invalid_list_of_providers_stops_the_start(
    fault: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text, reason = BAD[fault]
    set_environment(monkeypatch, text)
    with pytest.raises(SystemExit) as stopped:
        Settings.from_environment()
    written = capsys.readouterr().err
    assert stopped.value.code == 78
    assert "OIDC_PROVIDERS" in written
    assert reason in written
    assert SECRET not in written


def test_a_valid_list_of_providers_hides_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    set_environment(monkeypatch, json.dumps([provider(aal2Acr="mfa", groupsClaim="groups")]))
    settings = Settings.from_environment()
    [entry] = settings.oidc_providers
    assert entry.rules.email_domains == {"school.example"}
    assert entry.rules.aal2_acr == {"mfa"}
    assert entry.client_secret.get_secret_value() == SECRET
    assert SECRET not in repr(settings)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_development_may_have_a_provider_on_its_own_machine(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    providers = json.dumps([provider(issuer=f"http://{host}:9000")])
    set_environment(monkeypatch, providers, oidc_allow_loopback="true")
    assert Settings.from_environment().oidc_providers[0].issuer == f"http://{host}:9000"


def test_groups_propose_the_roles_that_the_settings_map() -> None:
    mapped = OidcProviderEntry.model_validate(
        provider(groupsClaim={"claim": "groups", "roles": {"it-audit": "auditor"}})
    ).rules
    assert (mapped.groups_claim, mapped.role_by_group) == ("groups", {"it-audit": "auditor"})
    claims = {"groups": ["it-audit", "students", 7]}
    assert proposed_roles(mapped, claims) == {"auditor"}
    assert proposed_roles(mapped, {"groups": "it-audit"}) == {"auditor"}
    assert proposed_roles(mapped, {}) == frozenset()


def test_a_claim_alone_maps_groups_named_as_roles() -> None:
    named = OidcProviderEntry.model_validate(provider(groupsClaim="roles")).rules
    claims = {"roles": ["finance_maker", "campus_admin", "hub_agent", "buyer", "merchant"]}
    assert proposed_roles(named, claims) == {"finance_maker"}


def test_groups_propose_nothing_without_the_setting() -> None:
    assert proposed_roles(OidcProviderEntry.model_validate(provider()).rules, {"": ["auditor"]}) == frozenset()
