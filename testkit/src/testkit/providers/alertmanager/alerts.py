"""Post alerts."""

from typing import Final

from testkit.providers.api import Api
from testkit.providers.operations import Operation
from testkit.providers.schemas import INSTANT, TEXT, record, rows

# The path of the specification in the folder of references.
REFERENCE: Final = "alertmanager/openapi.yaml"
LABELS: Final = {"type": "object", "additionalProperties": TEXT}
ALERT: Final = record({"labels annotations?": LABELS, "startsAt? endsAt?": INSTANT, "generatorURL?": TEXT}, closed=True)
# A success has no body; an error is a text.
API: Final = Api(REFERENCE, (Operation("POST", "/api/v2/alerts", {200: {}}, body=rows(ALERT)),), TEXT)
