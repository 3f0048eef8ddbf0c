"""Texts and parts of the OpenAPI document that are data: `descriptions.yaml` and `components.yaml`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml


def _read(name: str) -> Mapping[str, Any]:
    content: Mapping[str, Any] = yaml.load(Path(__file__).with_name(name).read_text(), yaml.CSafeLoader)
    return content


_DESCRIPTIONS: Final = _read("descriptions.yaml")
FIELDS: Final[Mapping[str, str]] = _DESCRIPTIONS["fields"]
PARAMETERS: Final[Mapping[str, str]] = _DESCRIPTIONS["parameters"]
COMPONENTS: Final = _read("components.yaml")
