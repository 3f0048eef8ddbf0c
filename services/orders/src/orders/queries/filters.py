"""The filters of a list by their public names."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

FilterValue = str | int | bool | bytes | UUID | datetime | None
Filters = Mapping[str, FilterValue]
