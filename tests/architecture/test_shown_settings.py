"""Each secret of the operators' table is one that the list of settings hides, or an address without its account."""

import pytest

from campus_tools.reference import SERVICES, settings_of
from common.standard_endpoints.settings_routes import settings_of_service, variable_of
from operations.secret_table import SECRETS

SAMPLE = "scheme://user:s3cret@host/s3cret?key=s3cret"


@pytest.mark.parametrize("service", SERVICES)
def test_no_secret_of_a_service_is_shown(service: str) -> None:
    model, names = settings_of(service), {row.name for row in SECRETS}
    secrets = {name for name, field in model.model_fields.items() if variable_of(name, field) in names}
    assert secrets
    settings = model.model_construct(**{name: SAMPLE if name in secrets else None for name in model.model_fields})
    shown = {one.name: one.value for one in settings_of_service(service, settings)}
    assert {name: shown[name] for name, value in shown.items() if value and "s3cret" in value} == {}
    unsafe = model.model_construct(**dict.fromkeys(model.model_fields, "s3cret"))
    values = {one.name: one.value for one in settings_of_service(service, unsafe)}
    urls = {name for name in names if name.endswith("_URL")}
    assert {name for name in names & values.keys() if values[name]} <= urls
