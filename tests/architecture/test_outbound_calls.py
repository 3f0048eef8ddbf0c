"""Configured addresses are called by an ordinary client, registered ones by `OutboundClient`."""

import ast

from tests.architecture.sources import ROOT, dotted, nodes_of, product_files

# Each place that creates an HTTP client, and the source of its addresses.
CLIENTS = {
    "common/primitives/http_client.py": "no address of its own: `HttpClient` of those below",
    "common/media/storage.py": "the store of images, by settings",
    "notifications/clients/outbound.py": "addresses that clients gave",
    "common/web/provider_client.py": "no address of its own: see `PROVIDER_CLIENTS`",
    "common/auth/user_lookup.py": "the identity service, by settings",
    "common/auth/verification_keys.py": "the keys of trusted issuers, by settings",
    "notifications/app.py": "push services by `OutboundClient`",
    "notifications/deliveries/clients/native_push.py": "the token address of the service account, by settings",
    "notifications/deliveries/templates/registration.py": "the messaging app's templates, by settings",
}
PROVIDER_CLIENTS = {
    "identity/app.py": "the identity providers of institutions, by settings",
    "notifications/app.py": "the providers of messages, by settings",
    "notifications/assistant/app.py": "the language model and the orders service, by settings",
    "payments/clients/flutterwave.py": "the second payment gateway, by settings",
    "payments/clients/paystack.py": "the payment gateway, by settings",
    "payouts/app.py": "the payment gateway, by settings",
}
ERRORS_OF_UVLOOP = {"common/primitives/http_client.py", "common/web/provider_client.py"}
MADE_BY = {
    "httpx.AsyncClient",
    "httpx.Client",
    "aiohttp.ClientSession",
    "ClientSession",
    "HttpClient",
    "OutboundClient",
}


def short(path) -> str:
    return str(path.relative_to(ROOT)).split("/src/")[-1]


def calls(path) -> list[ast.Call]:
    return [node for node in nodes_of(path) if isinstance(node, ast.Call)]


def makers_of(names: set[str]) -> set[str]:
    """Return the files that call one of these classes, or derive from it."""
    return {
        short(path)
        for path in product_files()
        if any(dotted(call.func) in names for call in calls(path))
        or any(
            isinstance(node, ast.ClassDef) and names & {ast.unparse(base) for base in node.bases}
            for node in nodes_of(path)
        )
    }


def test_every_http_client_declares_its_addresses() -> None:
    assert makers_of(MADE_BY) == set(CLIENTS)


def test_every_asynchronous_client_reports_a_lost_connection_as_an_error_of_httpx() -> None:
    assert makers_of({"httpx.AsyncClient"}) == ERRORS_OF_UVLOOP


def test_every_provider_client_declares_its_addresses() -> None:
    makers = {
        short(path) for path in product_files() if any(dotted(call.func) == "provider_client" for call in calls(path))
    }
    assert makers == set(PROVIDER_CLIENTS)


# The gateway resolves the names of its proxies, which are a setting.
RESOLVERS = ("notifications/clients/outbound.py", "api_gateway/addresses.py")


def test_only_the_outbound_client_and_the_gateways_proxies_resolve_names() -> None:
    for path in product_files():
        for call in calls(path):
            assert not dotted(call.func).endswith("getaddrinfo") or short(path) in RESOLVERS
            followed = [ast.unparse(word.value) for word in call.keywords if word.arg == "follow_redirects"]
            assert followed in ([], ["False"]), path


def test_web_push_uses_the_outbound_client() -> None:
    [web_push] = [path for path in product_files() if short(path) == "notifications/deliveries/clients/web_push.py"]
    [init] = [node for node in nodes_of(web_push) if isinstance(node, ast.FunctionDef) and node.name == "__init__"]
    assert {one.arg: ast.unparse(one.annotation) for one in init.args.args if one.annotation}[
        "http"
    ] == "OutboundClient"
