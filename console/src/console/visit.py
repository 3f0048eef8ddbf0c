"""One request of a browser: its session, who is signed in, the API under their tokens, and the response."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import msgspec
from jinja2 import Environment
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from common.observability.logging import REQUEST_ID
from common.primitives.encryption import DecryptionFailed, Encryptor
from console.api import Api, ApiProblem
from console.session import Session, values_of

CSRF_FIELD: Final = "_csrf"
KEY_FIELD: Final = "_key"
HELD_FIELD: Final = "_held"
CODE_FIELD: Final = "_code"
PASSKEY_FIELD: Final = "_passkey"
THEME_COOKIE: Final = "console-theme"
"""Written by the script of the page."""
OWN_FIELDS: Final = frozenset({CSRF_FIELD, HELD_FIELD, CODE_FIELD, PASSKEY_FIELD})
"""Fields that belong to the console; all others, the key included, are the form's."""


class Me(msgspec.Struct, rename="camel"):
    """The signed-in person, of `GET /api/profiles/current`."""

    id: str
    email: str
    full_name: str | None
    role: str
    roles: list[str]
    permissions: list[str]
    second_factor_required: bool = False
    """Whether this session lacks the second factor that the staff roles need (contract section 5.4)."""
    campus_id: str | None = None
    vendor_id: str | None = None

    @property
    def name(self) -> str:
        return self.full_name or self.email


class Form:
    """The fields of a posted form. Texts are stripped; a missing one is empty."""

    def __init__(self, fields: list[tuple[str, str]], files: Mapping[str, UploadFile] | None = None) -> None:
        self.fields = fields
        self.files = files or {}

    @classmethod
    def of(cls, data: FormData) -> "Form":
        texts = [(name, value) for name, value in data.multi_items() if isinstance(value, str)]
        # A browser sends an empty part for a file that was not chosen.
        files = {name: value for name, value in data.multi_items() if isinstance(value, UploadFile) and value.filename}
        return cls(texts, files)

    def __getitem__(self, name: str) -> str:
        return next((value.strip() for field_name, value in self.fields if field_name == name), "")

    def __contains__(self, name: str) -> bool:
        return any(field_name == name for field_name, _ in self.fields)

    def every(self, name: str) -> list[str]:
        """All values of a repeated field, such as checkboxes."""
        return [value for field_name, value in self.fields if field_name == name]

    def given(self, *names: str) -> dict[str, str]:
        """Return the named fields that are not empty, as a body for the API."""
        return {name: self[name] for name in names if self[name]}

    def minor(self, name: str) -> int | None:
        """Return an amount typed in naira (`1,250.50`) in kobo; None when it is empty. Raises InvalidField."""
        text = self[name].replace(",", "").removeprefix("₦").strip()
        if not text:
            return None
        whole, _, part = text.partition(".")
        if not (
            whole.isascii() and whole.isdigit() and (not part or (part.isascii() and part.isdigit())) and len(part) <= 2
        ):
            raise InvalidField(name, "write an amount in naira, such as 1,250.50")
        return int(whole) * 100 + int(part.ljust(2, "0"))

    async def image(self, name: str) -> tuple[str, bytes, str]:
        """Return a chosen file as name, content and media type. Raises InvalidField when none was chosen."""
        file = self.files.get(name)
        if file is None:
            raise InvalidField(name, "choose a file")
        return file.filename or name, await file.read(), file.content_type or "application/octet-stream"

    def number(self, name: str) -> int | None:
        """Return a whole number; None when it is empty. Raises InvalidField."""
        text = self[name].replace(",", "")
        if not text:
            return None
        if not (text.isascii() and text.isdigit()):
            raise InvalidField(name, "write a whole number")
        return int(text)


class InvalidField(ApiProblem):
    """A field that the console itself cannot read; shown as the API's own validation errors are."""

    def __init__(self, name: str, reason: str) -> None:
        problem = {
            "code": "VALIDATION_FAILED",
            "title": "The form is not complete",
            "detail": "Nothing was changed. Correct the marked field.",
            "invalid_params": [{"name": name, "reason": reason}],
        }
        super().__init__(422, problem, REQUEST_ID.get())


@dataclass(slots=True)
class HeldForm:
    """A form that could not be handled yet: the session had ended, or a second factor is due."""

    path: str
    user_id: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    had_files: bool = False


@dataclass(slots=True)
class RefusedForm:
    """A form that the API refused, on its way to its page: what was typed, where it was posted, and the reason."""

    page: str
    posted: str
    user_id: str
    fields: list[tuple[str, str]]
    status: int
    problem: dict[str, Any]
    request_id: str = ""


class HeldForms:
    """Held forms travel inside the page, encrypted: nothing is stored, and none can be changed."""

    def __init__(self, key: str, key_previous: str) -> None:
        self._encryptor = Encryptor("console form", key, key_previous, counted_as="console-key")

    def encrypt(self, form: HeldForm) -> str:
        return self._encryptor.encrypt(msgspec.json.encode(form).decode(), "form")

    def encrypt_refused(self, form: RefusedForm) -> str:
        return self._encryptor.encrypt(msgspec.json.encode(form).decode(), "refused")

    def decrypt_refused(self, text: str) -> RefusedForm | None:
        """Return the refused form; None when the text is not one of ours."""
        try:
            return msgspec.json.decode(self._encryptor.decrypt(text, "refused"), type=RefusedForm)
        except (DecryptionFailed, msgspec.MsgspecError):
            return None

    def decrypt(self, text: str) -> HeldForm | None:
        """Return the form; None when the text is not one of ours."""
        try:
            return msgspec.json.decode(self._encryptor.decrypt(text, "form"), type=HeldForm)
        except (DecryptionFailed, msgspec.MsgspecError):
            return None


class Visit:
    """Context of a page or an action."""

    def __init__(
        self,
        request: Request,
        session: Session,
        api: Api,
        templates: Environment,
        held_forms: HeldForms,
        console_url: str,
    ) -> None:
        """`console_url` is the public origin of the console."""
        self.request = request
        self.session = session
        self.api = api
        self.me: Me | None = None
        self.form = Form([])
        self.error: ApiProblem | None = None
        """The API's refusal of a form whose page is shown again."""
        self.posted = request.url.path
        """Where the shown form was posted: a refused one is shown on its page."""
        self.address = ""
        """The address of the page in place of the one that a form was posted to; empty: it is the same."""
        self.title = ""
        self.held_forms = held_forms
        self.console_url = console_url
        self._templates = templates
        self._fields: Counter[str] = Counter()

    @property
    def user(self) -> Me:
        """The signed-in person. Pages are reached by signed-in people only."""
        assert self.me is not None  # noqa: S101
        return self.me

    @property
    def path(self) -> str:
        return self.request.url.path

    @property
    def path_and_query(self) -> str:
        return f"{self.path}?{self.request.url.query}".removesuffix("?")

    @property
    def query(self) -> dict[str, str]:
        """The parameters of the address that are not empty."""
        return {name: value for name, value in self.request.query_params.items() if value}

    @property
    def pdf_link(self) -> str:
        """The address of this page as a PDF."""
        return f"{self.path}?{urlencode({**self.query, 'format': 'pdf'})}"

    @property
    def theme(self) -> str:
        """The colors that this browser chose, `light` or `dark`; empty: those of the device."""
        chosen = next(values_of(self.request.headers.getlist("cookie"), THEME_COOKIE), "")
        return chosen if chosen in ("light", "dark") else ""

    def __getitem__(self, name: str) -> str:
        """Return a parameter of the path: `visit["id"]`."""
        return str(self.request.path_params[name])

    def may(self, *permissions: str) -> bool:
        """Return whether the person holds one of these permissions: templates offer an action only then."""
        return self.me is not None and not set(permissions).isdisjoint(self.me.permissions)

    def render(self, template: str, *, status: int = 200, title: str = "", **values: Any) -> Response:
        """Return a page of `templates/`. It has `visit` besides these values."""
        self.title = title or self.title
        if self.error is not None and status == 200:
            status = self.error.status
        page = self._templates.get_template(template).render(visit=self, **values)
        self.session.notice = ""
        return HTMLResponse(page, status)

    def go(self, path: str, notice: str = "") -> Response:
        """Show another page after an action, with a message on it."""
        self.session.notice = notice
        return RedirectResponse(local_path(path), 303)

    def new_key(self) -> str:
        """Return a key for one rendered form: it has one effect, however often it is sent."""
        return str(uuid4())

    def field_id(self, name: str) -> str:
        """Return an id for a field: several forms of a page may have one of the same name."""
        self._fields[name] += 1
        number = self._fields[name]
        return f"field-{name}-{number}" if number > 1 else f"field-{name}"

    def own_fields(self) -> Iterator[tuple[str, str]]:
        """Yield the hidden fields of every form."""
        yield CSRF_FIELD, self.session.csrf_token
        yield KEY_FIELD, self.new_key()


def local_path(path: str) -> str:
    """Return the path when it leads to a page of the console; else the first page."""
    parts = urlsplit(path)
    is_local = path.startswith("/") and not path.startswith(("//", "/\\")) and not parts.netloc
    return path if is_local and path.isprintable() else "/"
