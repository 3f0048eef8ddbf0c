"""Examples: one valid, deterministic value for each schema, from the demo data."""

from collections.abc import Mapping
from typing import Any, Final

from campus_tools.documents.texts import COMPONENTS
from contracts.demo import ADA, AKOKA_HUB, LAGOS, USERS

_REFERENCE_PREFIX: Final = "#/components/schemas/"
_DEPTH_MAX: Final = 12
SOME_ID: Final = "018f2a6b-5c1d-7e4a-9b3f-2d6c8a1e0f47"
TIME: Final = "2026-01-31T12:00:00.000Z"
REQUEST_ID: Final[str] = COMPONENTS["headers"]["X-Request-Id"]["example"]

_BY_NAME: Final[Mapping[str, Any]] = {
    "vendorId": str(ADA.id),
    "vendor_id": str(ADA.id),
    "campusId": str(LAGOS.id),
    "campus_id": str(LAGOS.id),
    "hubId": str(AKOKA_HUB.id),
    "buyerId": str(USERS[0].id),
    "userId": str(USERS[0].id),
    "user_id": str(USERS[0].id),
    "ownerUserId": str(ADA.owner_user_id),
    "email": USERS[0].email,
    "fullName": USERS[0].full_name,
    "full_name": USERS[0].full_name,
    "phone": USERS[0].phone,
    "businessName": ADA.business_name,
    "vendorName": ADA.business_name,
    "legalName": ADA.legal_name,
    "accountName": ADA.legal_name,
    "accountNumber": "0123456789",
    "bankCode": "058",
    "bankName": "Guaranty Trust Bank",
    "last4": "6789",
    "codeChallenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "accountLast4": "6789",
    "password": "correct horse battery staple",
    "currency": "NGN",
    "total": 4500.0,
    "unitPriceMinor": 225_000,
    "priceMinor": 225_000,
    "deliveryFeeMinor": 0,
    "commissionMinor": 22_500,
    "refundedMinor": 0,
    "netMinor": 427_500,
    "quantity": 2,
    "name": "Jollof rice with chicken",
    "description": "A full plate, cooked this morning.",
    "category": "food",
    "reason": "The meeting place has changed.",
    "note": "Seen in the gateway's log.",
    "details": "The parcel was empty.",
    "text": "Warm, and on time.",
    "message": "Where is my order?",
    "subject": "My order",
    "title": "Your order is on its way",
    "address": "Main Gate, Akoka",
    "deliveryNote": "Room 12, ground floor.",
    "evidence": "The bank's letter of 31 January.",
    "pin": "482915",
    "code": "482915",
    "reference": "po-018f2a6b5c1d7e4a9b3f2d6c8a1e0f47",
    "month": "2026-01",
    "timestamp": TIME,
    "version": "v1",
    "requestId": REQUEST_ID,
    "next_cursor": None,
    "nextCursor": None,
    "has_more": False,
    "limit": 20,
    "page": 1,
    "total_pages": 1,
    "success": True,
    "rating": 5,
    "locale": "en",
    "tokenType": "Bearer",
    "expiresIn": 900,
    "aal": "aal1",
    "role": "buyer",
    "status": "active",
    "q": "rice",
    "path": "/orders",
    "hub.mode": "subscribe",
    "hub.challenge": "1158201444",
    "hub.verify_token": "the token that was registered with the provider",
    "endpoint": "https://push.example.com/send/fGx3",
    "p256dh": "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM",
    "auth": "tBHItJI5svbpez7KI4CCXg",
    "correlationId": REQUEST_ID,
}


class Samples:
    """Create examples; references are resolved in `schemas`."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas

    def of(self, schema: Mapping[str, Any], *, whole: bool = True) -> Any:
        """Return a value of the schema; without `whole`, only its required fields."""
        return self._of(schema, "", whole, 0)

    def of_parameter(self, name: str, schema: Mapping[str, Any]) -> Any:
        """Return a value of a parameter, by its name first."""
        return self._of(schema, name, True, 0)

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the schema of a reference."""
        while "$ref" in schema:
            schema = self._schemas[schema["$ref"].removeprefix(_REFERENCE_PREFIX)]
        return schema

    def _of(self, schema: Mapping[str, Any], name: str, whole: bool, depth: int) -> Any:
        if "$ref" in schema:
            return self._of(self.resolved(schema), name, whole, depth)
        for keyword in ("example", "const", "default"):
            if schema.get(keyword) not in (None, ""):
                return schema[keyword]
        if schema.get("examples"):
            return schema["examples"][0]
        if "enum" in schema:
            named = _BY_NAME.get(name)
            return named if named in schema["enum"] else schema["enum"][0]
        choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if choices:
            real = [choice for choice in choices if choice.get("type") != "null"]
            if len(real) < len(choices) and (depth >= _DEPTH_MAX or (name in _BY_NAME and _BY_NAME[name] is None)):
                return None
            return self._of(real[0], name, whole, depth)
        return self._of_type(schema, name, whole, depth)

    def _of_type(self, schema: Mapping[str, Any], name: str, whole: bool, depth: int) -> Any:
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next(word for word in kind if word != "null")
        match kind:
            case "object":
                return self._object(schema, whole, depth)
            case "array":
                item = self._of(schema.get("items", {}), name.removesuffix("s"), whole, depth + 1)
                return [item] * max(1, min(schema.get("minItems", 1), 10)) if depth < _DEPTH_MAX else []
            case "string":
                return _text(schema, name)
            case "integer":
                return _number(schema, name)
            case "number":
                return float(_number(schema, name))
            case "boolean":
                return not name.startswith(("is", "dry", "suspended", "mfa", "has_"))
            case "null":
                return None
            case _:
                return {}

    def _object(self, schema: Mapping[str, Any], whole: bool, depth: int) -> dict[str, Any]:
        properties: Mapping[str, Any] = schema.get("properties", {})
        required = set(schema.get("required", ()))
        if not properties and isinstance(schema.get("additionalProperties"), dict):
            key = self.resolved(schema.get("propertyNames", {})).get("enum", ["name"])[0]
            return {key: self._of(schema["additionalProperties"], "name", whole, depth + 1)}
        shown = [name for name in properties if whole or not required or name in required]
        return {name: self._of(properties[name], name, whole, depth + 1) for name in shown}


def _text(schema: Mapping[str, Any], name: str) -> str:
    match schema.get("format"):
        case "uuid":
            named = _BY_NAME.get(name)
            return named if isinstance(named, str) and len(named) == 36 else SOME_ID
        case "date-time":
            return TIME
        case "date":
            return TIME[:10]
        case "email":
            return USERS[0].email
        case "uri" | "url":
            return "https://example.com/here"
        case "binary":
            return "(bytes)"
    return _fitting(_named_text(name), schema)


def _named_text(name: str) -> str:
    named = _BY_NAME.get(name)
    if isinstance(named, str):
        return named
    if name == "id" or name.endswith(("Id", "_id")):
        return SOME_ID
    if name.endswith(("At", "By", "_at", "Before", "Until", "from", "to")):
        return TIME if not name.endswith("By") or name == "respondBy" else str(USERS[7].id)
    return name or "text"


def _fitting(text: str, schema: Mapping[str, Any]) -> str:
    """Fit a text to its minimum and maximum length."""
    least, most = schema.get("minLength", 0), schema.get("maxLength", 10_000)
    while len(text) < least:
        text += f" {text}" if text else "text"
    return text[:most]


def _number(schema: Mapping[str, Any], name: str) -> int:
    named = _BY_NAME.get(name)
    number: int | float = 1
    if isinstance(named, int | float) and not isinstance(named, bool):
        number = named
    elif name.endswith(("Minor", "_minor")):
        number = 450_000
    elif name.endswith("BasisPoints"):
        number = 500
    least = schema.get("minimum", schema.get("exclusiveMinimum", number))
    most = schema.get("maximum", schema.get("exclusiveMaximum", number))
    return int(min(max(number, least), most))
