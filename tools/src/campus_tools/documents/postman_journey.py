"""The journey of a purchase: the folder `Journey` of the Postman collection, and the steps of the Arazzo document.

Each request stores what the next ones need in variables of the collection, and asserts its response. Services receive
an order by message: a request that waits for one repeats itself.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from contracts.demo import ADA

FOLDER: Final = "Journey"
# 200 times 0.3 s: a minute, also while a part of the system restarts.
_REPETITIONS_MAX: Final = 200
_PAUSE_MS: Final = 300
VARIABLES: Final = (
    ("sandboxUrl", "http://localhost:8170"),
    ("vendorEmail", "vendor@unilag.edu.ng"),
    *((name, "") for name in ("vendorPassword", "studentEmail", "studentPassword", "studentPhone", "studentCode")),
    *((name, "") for name in ("studentToken", "vendorToken", "productId", "orderId", "accessCode",
    "authorizationUrl", "pin", "walletBefore")),
)  # fmt: skip
_NEW_STUDENT: Final = """
const number = String(Math.floor(Math.random() * 1e7)).padStart(7, "0");
const fresh = {
  studentEmail: `postman.${number}@student.unilag.edu.ng`,
  studentPassword: pm.variables.replaceIn("{{$guid}}"),
  studentPhone: `+234806${number}`,
};
for (const [name, value] of Object.entries(fresh)) pm.collectionVariables.set(name, value);
"""


@dataclass(frozen=True, slots=True)
class Step:
    """A request of the journey.

    `expects`, `exceeds` and `keeps` are of pointers into `data` of the response: equal to a text, larger than a
    variable, stored as a variable. `reads` is a script over `data` for what they cannot say: it stores variables with
    `keep` and returns whether the step is done. `waits`: the request repeats itself until it is. `token`: the variable
    of its access token.
    """

    name: str
    method: str
    path: str
    status: int
    reads: str = ""
    token: str | None = "studentToken"
    body: str | None = None
    has_key: bool = False
    waits: bool = False
    prepare: str | None = None
    host: str = "baseUrl"
    query: dict[str, str] = field(default_factory=dict)
    form: dict[str, str] | None = None
    expects: Mapping[str, str] = field(default_factory=dict)
    exceeds: Mapping[str, str] = field(default_factory=dict)
    keeps: Mapping[str, str] = field(default_factory=dict)


STEPS: Final = (
    Step(
        "Sign up a student", "POST", "/api/auth/signup", 201, "return Boolean(data.userId);", None,
        '{"email": "{{studentEmail}}", "password": "{{studentPassword}}", "fullName": "Tobi Alabi", '
        '"phone": "{{studentPhone}}"}',
        prepare=_NEW_STUDENT,
    ),
    Step(
        "Read the code in the sandbox's inbox", "GET", "/control/messages", 200,
        "const found = data.map((one) => /\\b[0-9]{6}\\b/.exec(one.text)).find(Boolean);\n"
        '  return Boolean(found) && keep("studentCode", found[0]);',
        None, waits=True, host="sandboxUrl", query={"to": "{{studentEmail}}", "channel": "email"},
    ),
    Step(
        "Confirm the address", "POST", "/api/auth/otp/verify", 200, token=None,
        body='{"email": "{{studentEmail}}", "code": "{{studentCode}}", "password": "{{studentPassword}}"}',
        keeps={"studentToken": "/accessToken"},
    ),
    Step(
        "Browse the catalog", "GET", "/api/products", 200,
        f'const found = data.find((one) => one.vendorName === "{ADA.business_name}");\n'
        '  return Boolean(found) && keep("productId", found.id);',
        query={"q": "rice", "inStock": "true"}, keeps={"productId": "/0/id"},
    ),
    Step(
        "Check out", "POST", "/api/orders/checkout", 201,
        expects={"/status": "Processing"}, keeps={"orderId": "/id"},
        body='{"items": [{"productId": "{{productId}}", "quantity": 1}]}', has_key=True,
    ),
    Step(
        "Open the payment", "POST", "/api/payments/intent", 201,
        keeps={"accessCode": "/accessCode", "authorizationUrl": "/authorizationUrl"},
        body='{"orderId": "{{orderId}}"}', has_key=True, waits=True,
    ),
    Step(
        "Pay on the sandbox's page", "POST", "/pay/{{accessCode}}", 200, "return true;", None,
        host="sandboxUrl", form={"action": "pay"},
    ),
    Step(
        "See the money in escrow", "GET", "/api/orders/{{orderId}}", 200,
        expects={"/status": "paid_escrow"}, waits=True,
    ),
    Step(
        "Sign in as the vendor", "POST", "/api/auth/login", 200, token=None, keeps={"vendorToken": "/accessToken"},
        body='{"email": "{{vendorEmail}}", "password": "{{vendorPassword}}"}',
    ),
    Step(
        "See the vendor's wallet", "GET", "/api/wallets/current", 200, token="vendorToken",
        keeps={"walletBefore": "/availableMinor"},
    ),
    Step(
        "Dispatch the order", "POST", "/api/orders/{{orderId}}/dispatch", 200, token="vendorToken",
        expects={"/status": "dispatched"}, has_key=True,
    ),
    Step(
        "Read the delivery PIN", "GET", "/api/orders/{{orderId}}/delivery-pin", 200, keeps={"pin": "/pin"}, waits=True,
    ),
    Step(
        "Verify the delivery", "POST", "/api/orders/{{orderId}}/verify-delivery", 200,
        token="vendorToken", body='{"pin": "{{pin}}"}', expects={"/status": "delivered"}, has_key=True,
    ),
    Step(
        "See the order paid", "GET", "/api/orders/{{orderId}}", 200, expects={"/status": "paid"}, waits=True,
    ),
    Step(
        "See the money in the vendor's wallet", "GET", "/api/wallets/current", 200, token="vendorToken",
        exceeds={"/availableMinor": "walletBefore"}, waits=True,
    ),
    Step(
        "Find the order in the list", "GET", "/api/orders", 200,
        'return data.some((one) => one.id === pm.variables.get("orderId"));', query={"limit": "20"},
    ),
)  # fmt: skip

# In the Arazzo document alone: finance dispatches payouts, with a second factor.
PAYOUT_STEPS: Final = (
    Step(
        "Ask for the payout", "POST", "/api/payouts", 201, token="vendorToken", has_key=True,
        body='{"amountMinor": 100000}', expects={"/status": "pending"}, keeps={"payoutId": "/id"},
    ),
    Step(
        "See the payout processed", "GET", "/api/payouts/{{payoutId}}", 200, token="vendorToken",
        expects={"/status": "processed"}, waits=True,
    ),
)  # fmt: skip


def journey() -> dict[str, Any]:
    """Return the folder, for the beginning of the collection."""
    return {
        "name": FOLDER,
        "description": "One purchase with the demo data and the sandbox of `make run`. Set `vendorPassword` to the "
        "demo "
        "accounts' password and run the folder. A new student signs up at each run; an environment with "
        "`studentEmail`, "
        "`studentPassword` and `studentPhone` chooses who.",
        "item": [_item(step) for step in STEPS],
    }


def script(listen: str, lines: str) -> dict[str, Any]:
    """Return a script of an item: `prerequest` or `test`."""
    return {"listen": listen, "script": {"type": "text/javascript", "exec": lines.strip().splitlines()}}


def _item(step: Step) -> dict[str, Any]:
    headers = []
    if step.has_key:
        headers.append({"key": "Idempotency-Key", "value": "{{$guid}}", "description": "New for each request."})
    if step.form is not None:
        headers.append({"key": "Accept", "value": "application/json"})
    request: dict[str, Any] = {
        "method": step.method,
        "header": headers,
        "url": _url(step),
        "auth": {"type": "noauth"}
        if step.token is None
        else {"type": "bearer", "bearer": [{"key": "token", "value": "{{" + step.token + "}}", "type": "string"}]},
    }
    if step.body is not None:
        headers.append({"key": "Content-Type", "value": "application/json"})
        request["body"] = {"mode": "raw", "raw": step.body, "options": {"raw": {"language": "json"}}}
    if step.form is not None:
        request["body"] = {"mode": "urlencoded", "urlencoded": _pairs(step.form.items())}
    events = [script("test", _assertion(step))]
    if step.prepare is not None:
        events.insert(0, script("prerequest", step.prepare))
    return {"name": step.name, "event": events, "request": request, "response": []}


def _url(step: Step) -> dict[str, Any]:
    host = "{{" + step.host + "}}"
    query = "&".join(f"{name}={value}" for name, value in step.query.items())
    url: dict[str, Any] = {
        "raw": host + step.path + (f"?{query}" if query else ""),
        "host": [host],
        "path": step.path.strip("/").split("/"),
    }
    if step.query:
        url["query"] = _pairs(step.query.items())
    return url


def _pairs(entries: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"key": name, "value": value} for name, value in entries]


def _reads(step: Step) -> str:
    """Return the script of a step's expectations, then of what it stores."""
    parts = [f'{_field(pointer)} === "{value}"' for pointer, value in step.expects.items()]
    parts += [f'{_field(pointer)} > Number(pm.variables.get("{name}"))' for pointer, name in step.exceeds.items()]
    parts += [f'keep("{name}", {_field(pointer)})' for name, pointer in step.keeps.items()]
    return f"return {' && '.join(parts)};"


def _field(pointer: str) -> str:
    return f"data{pointer.replace('/', '.')}"


def _assertion(step: Step) -> str:
    """Return the script after a response: it stores, repeats the request, or asserts."""
    repeats = (
        f"""
const repetitions = Number(pm.collectionVariables.get("repetitions") || 0);
if (!done && repetitions < {_REPETITIONS_MAX}) {{
  pm.collectionVariables.set("repetitions", repetitions + 1);
  pm.execution.setNextRequest(pm.info.requestId);
  return setTimeout(() => {{}}, {_PAUSE_MS});
}}
pm.collectionVariables.set("repetitions", 0);"""
        if step.waits
        else ""
    )
    return f"""
const keep = (name, value) => {{ pm.collectionVariables.set(name, value); return value !== undefined; }};
const read = (data) => {{
  {step.reads or _reads(step)}
}};
const body = pm.response.code === {step.status} ? pm.response.json() : {{}};
const done = pm.response.code === {step.status} && read(body.data || body);{repeats}
const received = `${{pm.response.code}} ${{pm.response.text()}}`;
pm.test("{step.name}: {step.status}", () => pm.expect(done, received).to.be.true);
if (!done) pm.execution.setNextRequest(null);
"""
