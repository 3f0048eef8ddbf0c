"""The messaging app's templates: registration, list, change and review."""

import re
import time
from sqlite3 import Row
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sandbox.database import Database
from sandbox.outbox import enqueue
from sandbox.sinks.accounts import account_state
from sandbox.sinks.messaging_errors import refuse_code, refuse_parameter
from sandbox.web import JsonResponse, RefusedError, read_json
from sandbox.world import World, world_of

CATEGORIES = frozenset({"AUTHENTICATION", "MARKETING", "UTILITY"})
REVIEWS = {"approve": "APPROVED", "reject": "REJECTED", "pause": "PAUSED", "disable": "DISABLED"}
EDITABLE = frozenset({"APPROVED", "REJECTED", "PAUSED"})
ROWS_DEFAULT, ROWS_MAX = 25, 1000
FIRST_ID = 1_689_556_908_000_000
PLACEHOLDER = re.compile(r"\{\{([0-9]+)\}\}")


class ContentRejected(Exception):
    """The content of a template is not acceptable."""

    def __init__(self, subcode: int, title: str, sentence: str) -> None:
        super().__init__(sentence)
        self.subcode, self.title, self.sentence = subcode, title, sentence

    def response(self) -> Response:
        return refuse_parameter("Invalid parameter", subcode=self.subcode, title=self.title, sentence=self.sentence)


async def create_template(request: Request) -> Response:
    """POST /messaging/{version}/{account_id}/message_templates."""
    world = world_of(request)
    if not is_authorized(request):
        return refuse_code(190)
    try:
        body = await read_json(request)
        _check_frame(body)
        _check_components(body["category"].upper(), body["components"])
    except RefusedError as error:
        return refuse_parameter(f"(#100) {error.message}")
    except ContentRejected as error:
        return error.response()
    account_id, name, language = request.path_params["account_id"], body["name"], body["language"]
    if find_template(world.database, name, language) is not None:
        sentence = "There is already content in this language for this template. Choose another name."
        return ContentRejected(2388024, "Content in This Language Already Exists", sentence).response()
    template_id = world.database.run(
        "INSERT INTO message_templates (account_id, name, language, category, status, reason, components)"
        " VALUES (?, ?, ?, ?, ?, 'NONE', ?)",
        account_id,
        name,
        language,
        body["category"].upper(),
        _status_after_submission(world),
        msgspec.json.encode(body["components"]).decode(),
    )
    shown = {"id": str(FIRST_ID + template_id), "status": "PENDING", "category": body["category"].upper()}
    return JsonResponse(shown)


async def edit_template(request: Request) -> Response:
    """POST /messaging/{version}/{template_id} with `components`, and `category` unless it is approved."""
    world = world_of(request)
    if not is_authorized(request):
        return refuse_code(190)
    given = request.path_params["template_id"]
    template = _template_by_id(world.database, given)
    if template is None:
        message = f"Unsupported post request. Object with ID '{given}' does not exist, cannot be loaded due to missing"
        return refuse_parameter(f"{message} permissions, or does not support this operation", subcode=33)
    try:
        body = await read_json(request)
        category = str(body.get("category") or template["category"]).upper()
        _check_components(category, body.get("components"))
    except RefusedError as error:
        return refuse_parameter(f"(#100) {error.message}")
    except ContentRejected as error:
        return error.response()
    if template["status"] not in EDITABLE or (template["status"] == "APPROVED" and category != template["category"]):
        return ContentRejected(2388003, "Template Cannot Be Edited", "This template cannot be edited now.").response()
    world.database.run(
        "UPDATE message_templates SET category = ?, status = ?, reason = 'NONE', components = ? WHERE id = ?",
        category,
        _status_after_submission(world),
        msgspec.json.encode(body["components"]).decode(),
        template["id"],
    )
    return JsonResponse({"success": True})


async def list_templates(request: Request) -> Response:
    """GET /messaging/{version}/{account_id}/message_templates?fields&limit&after&name&status, by pages."""
    world = world_of(request)
    if not is_authorized(request) or account_state(world, "messaging_templates") != "readable":
        return refuse_code(190)
    query = request.query_params
    limit, after = query.get("limit", str(ROWS_DEFAULT)), query.get("after", "0")
    if not limit.isdigit() or not 1 <= int(limit) <= ROWS_MAX or not after.isdigit():
        return refuse_parameter("(#100) Invalid parameter: limit or after")
    rows = world.database.all(
        "SELECT * FROM message_templates WHERE account_id = ? AND id > ? AND (? = '' OR name = ?)"
        " AND (? = '' OR status = ?) ORDER BY id LIMIT ?",
        request.path_params["account_id"],
        int(after),
        *(query.get("name", ""),) * 2,
        *(query.get("status", "").upper(),) * 2,
        int(limit) + 1,
    )
    page = rows[: int(limit)]
    fields = {name.strip() for name in query.get("fields", "name,status,category,language,components").split(",")}
    body: dict[str, Any] = {"data": [_view(row, fields | {"id"}) for row in page]}
    if page:
        paging: dict[str, Any] = {"cursors": {"before": str(page[0]["id"]), "after": str(page[-1]["id"])}}
        if len(rows) > len(page):
            paging["next"] = str(request.url.include_query_params(after=page[-1]["id"]))
        body["paging"] = paging
    return JsonResponse(body)


async def review_template(request: Request) -> Response:
    """End the review of a template in one `language` (`en`), with a `reason` where it is rejected."""
    world = world_of(request)
    status = REVIEWS.get(request.path_params["act"])
    name = request.path_params["name"]
    body = await read_json(request)
    template = find_template(world.database, name, str(body.get("language", "en")))
    if status is None or template is None:
        raise RefusedError(404, "No such template or act")
    reason = str(body.get("reason", "INVALID_FORMAT")) if status == "REJECTED" else "NONE"
    world.database.run(
        "UPDATE message_templates SET status = ?, reason = ? WHERE id = ?", status, reason, template["id"]
    )
    value = {
        "event": status,
        "message_template_id": FIRST_ID + template["id"],
        "message_template_name": name,
        "message_template_language": template["language"],
        "reason": reason,
        "message_template_category": template["category"],
    }
    change = {"field": "message_template_status_update", "value": value}
    entry = {"id": template["account_id"], "time": int(time.time()), "changes": [change]}
    report = {"object": "whatsapp_business_account", "entry": [entry]}
    enqueue(world.database, "messaging", f"template.{status}", name, msgspec.json.encode(report), time.time())
    world.webhook_sender.wake()
    return JsonResponse({"name": name, "status": status})


def check_message(database: Database, template: dict[str, Any]) -> Response | None:
    """Refuse a message whose template is not approved or has another number of parameters.

    An account without any registered template accepts every name, so that a new system sends messages at once.
    """
    if database.one("SELECT 1 FROM message_templates LIMIT 1") is None:
        return None
    name, language = str(template.get("name")), str(template.get("language", {}).get("code"))
    found = find_template(database, name, language)
    if found is None or found["status"] in ("PENDING", "REJECTED"):
        return refuse_code(132001, f"template name ({name}) does not exist in {language}")
    if found["status"] != "APPROVED":
        return refuse_code(132015 if found["status"] == "PAUSED" else 132016)
    given = {one.get("type"): len(one.get("parameters", [])) for one in template.get("components", [])}
    components = msgspec.json.decode(found["components"])
    if found["category"] == "AUTHENTICATION":
        expected = {"body": 1, "button": 1}
    else:
        count = len(PLACEHOLDER.findall(_body_of(components).get("text", "")))
        expected = {"body": count} if count else {}
    if given != expected:
        return refuse_code(
            132000, f"number of localizable_params ({given}) does not match the expected number ({expected})"
        )
    return None


def is_authorized(request: Request) -> bool:
    return request.headers.get("authorization", "").startswith("Bearer ")


def find_template(database: Database, name: str, language: str) -> Row | None:
    return database.one("SELECT * FROM message_templates WHERE name = ? AND language = ?", name, language)


def _template_by_id(database: Database, given: str) -> Row | None:
    number = int(given) - FIRST_ID if given.isascii() and given.isdigit() and len(given) < 19 else 0
    return database.one("SELECT * FROM message_templates WHERE id = ?", number)


def _status_after_submission(world: World) -> str:
    return "APPROVED" if world.switches.messaging_template_review == "auto" else "PENDING"


def _view(row: Row, fields: set[str]) -> dict[str, Any]:
    whole = {
        "id": str(FIRST_ID + row["id"]),
        "name": row["name"],
        "language": row["language"],
        "category": row["category"],
        "status": row["status"],
        "rejected_reason": row["reason"],
        "parameter_format": "POSITIONAL",
        "components": _stored_components(row),
    }
    return {name: value for name, value in whole.items() if name in fields}


def _stored_components(row: Row) -> list[dict[str, Any]]:
    """Write the text of an authentication template, as the platform does; its button becomes one of type URL."""
    components: list[dict[str, Any]] = msgspec.json.decode(row["components"])
    if row["category"] != "AUTHENTICATION":
        return components
    body = {**_body_of(components), "text": "*{{1}}* is your verification code."}
    button = {
        "type": "URL",
        "text": "Copy code",
        "url": "https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}",
    }
    return [body, {"type": "BUTTONS", "buttons": [button]}]


def _body_of(components: list[dict[str, Any]]) -> dict[str, Any]:
    return next((one for one in components if str(one.get("type")).upper() == "BODY"), {})


def _check_frame(body: dict[str, Any]) -> None:
    for name in ("name", "language", "category"):
        if not isinstance(body.get(name), str) or not body[name]:
            raise RefusedError(400, f"The parameter {name} is required.")
    if re.fullmatch(r"[a-z0-9_]{1,512}", body["name"]) is None:
        raise RefusedError(400, "Param name must contain only lowercase letters, digits and underscores.")
    if body["category"].upper() not in CATEGORIES:
        raise RefusedError(400, "Param category must be one of {UTILITY, MARKETING, AUTHENTICATION}")


def _check_components(category: str, components: Any) -> None:
    if not isinstance(components, list) or not all(isinstance(one, dict) for one in components):
        raise RefusedError(400, "The parameter components is required.")
    body = _body_of(components)
    if category == "AUTHENTICATION":
        buttons = next((one.get("buttons") for one in components if str(one.get("type")).upper() == "BUTTONS"), None)
        if "text" in body or not buttons or str(buttons[0].get("type")).upper() != "OTP":
            sentence = "An authentication template has a preset text and a button of type OTP."
            raise ContentRejected(2388299, "Authentication template is not valid", sentence)
        return
    text = body.get("text", "")
    if not text or len(text) > 1024:
        raise ContentRejected(2388040, "Body is missing or too long", "The body has 1 to 1024 characters.")
    count = len(PLACEHOLDER.findall(text))
    example = body.get("example", {}).get("body_text")
    if count and (not isinstance(example, list) or not example or len(example[0]) != count):
        sentence = "component of type BODY is missing expected field(s) (example)"
        raise ContentRejected(2388043, "Components are missing expected field(s)", sentence)
    if PLACEHOLDER.match(text) or re.search(r"\}\}\W*$", text):
        raise ContentRejected(
            2388299, "Leading or trailing parameters", "Variables can't be at the start or end of the template."
        )
    if count and len(re.findall(r"\w+", PLACEHOLDER.sub(" ", text))) < 2 * count + 1:
        sentence = "This template has too many variables for its length."
        raise ContentRejected(2388293, "Parameters words ratio exceeds limit", sentence)
