"""The base classes of the models. A model is built when it is first used, so that an import costs little."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class ResponseModel(BaseModel):
    """Content of a response. Fields that a later server adds are ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="ignore",
        frozen=True,
        protected_namespaces=(),
        defer_build=True,
    )


class RequestModel(BaseModel):
    """Content of a request. An unknown field is an error. Fields that are not set are not sent."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        extra="forbid",
        frozen=True,
        protected_namespaces=(),
        defer_build=True,
    )
