"""The journey of a purchase as an Arazzo document, from the steps of the Postman collection and the OpenAPI document.

Steps at the sandbox are not operations: what they show is an input of the workflow, or is done by a person.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from api_gateway.frame import DOCUMENTED_BASE_URL
from campus_tools.documents.postman_journey import PAYOUT_STEPS, STEPS, Step

_VARIABLE: Final = re.compile(r"{{(\w+)}}")
# As in the collection: a minute in total.
_RETRY: Final = {"name": "repeat", "type": "retry", "retryAfter": 1, "retryLimit": 60}


def document(reference: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document, whose steps name operations of `reference`, the OpenAPI document."""
    steps = [step for step in (*STEPS, *PAYOUT_STEPS) if step.host == "baseUrl"]
    sources: dict[str, str] = {}
    described = []
    for step in steps:
        described.append(_step(step, reference, sources))
        sources |= {name: f"$steps.{_id(step)}.outputs.{name}" for name in step.keeps}
    inputs = dict.fromkeys(_inputs(described))
    return {
        "arazzo": "1.0.1",
        "info": {
            "title": "A purchase, from sign-up to payout",
            "description": "The buyer pays on the page of `authorizationUrl`; finance dispatches payouts in batches.",
            "version": reference["info"]["version"],
        },
        "sourceDescriptions": [{"name": "campus", "url": f"{DOCUMENTED_BASE_URL}/openapi.json", "type": "openapi"}],
        "workflows": [
            {
                "workflowId": "purchase",
                "summary": "Sign up, buy, pay into escrow, deliver against the PIN, ask for the payout.",
                "inputs": {
                    "type": "object",
                    "properties": {name: _input(name) for name in inputs},
                    "required": list(inputs),
                },
                "steps": described,
                "outputs": {name: sources[name] for name in ("orderId", "payoutId")},
            }
        ],
    }


def _step(step: Step, reference: Mapping[str, Any], sources: Mapping[str, str]) -> dict[str, Any]:
    path, operation = _operation(step, reference)
    parameters = [
        {"name": name, "in": "path", "value": _expression(value, sources)}
        for name, value in zip(re.findall(r"{(\w+)}", path), _VARIABLE.findall(step.path), strict=True)
    ]
    parameters += [{"name": name, "in": "query", "value": value} for name, value in step.query.items()]
    if step.token is not None:
        token = _expression(step.token, sources)
        parameters.append({"name": "Authorization", "in": "header", "value": f"Bearer {{{token}}}"})
    if step.has_key:
        key = "".join(word.capitalize() for word in _id(step).split("-"))
        parameters.append({"name": "Idempotency-Key", "in": "header", "value": f"$inputs.keyTo{key}"})
    conditions = [f"$statusCode == {step.status}"]
    conditions += [f"$response.body#/data{pointer} == '{value}'" for pointer, value in step.expects.items()]
    conditions += [
        f"$response.body#/data{pointer} > {_expression(name, sources)}" for pointer, name in step.exceeds.items()
    ]
    described: dict[str, Any] = {
        "stepId": _id(step),
        "description": f"{step.name}.",
        "operationId": operation["operationId"],
        "parameters": parameters,
        "successCriteria": [{"condition": condition} for condition in conditions],
    }
    if step.body is not None:
        described["requestBody"] = {"contentType": "application/json", "payload": _payload(step.body, sources)}
    if step.keeps:
        described["outputs"] = {name: f"$response.body#/data{pointer}" for name, pointer in step.keeps.items()}
    if step.waits:
        described["onFailure"] = [_RETRY]
    return {name: value for name, value in described.items() if value != []}


def _operation(step: Step, reference: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the path and the operation of a step. Raises KeyError when the OpenAPI document has none."""
    template = _VARIABLE.sub("{}", step.path)
    path = next((path for path in reference["paths"] if re.sub(r"{\w+}", "{}", path) == template), template)
    return path, reference["paths"][path][step.method.lower()]


def _payload(body: str, sources: Mapping[str, str]) -> Any:
    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [filled(inner) for inner in value]
        matched = _VARIABLE.fullmatch(value) if isinstance(value, str) else None
        return value if matched is None else _expression(matched[1], sources)

    return filled(json.loads(body))


def _expression(name: str, sources: Mapping[str, str]) -> str:
    """Return the output of an earlier step, or the input of the workflow."""
    return sources.get(name, f"$inputs.{name}")


def _inputs(described: Any) -> Iterator[str]:
    yield from re.findall(r"\$inputs\.(\w+)", json.dumps(described))


def _input(name: str) -> dict[str, Any]:
    return {"type": "string", "format": "uuid"} if name.startswith("keyTo") else {"type": "string", "minLength": 1}


def _id(step: Step) -> str:
    return re.sub(r"[^a-z]+", "-", step.name.lower().replace("'s", "s"))
