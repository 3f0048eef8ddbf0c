"""The schemas of the providers' APIs agree with the specifications in `REFERENCES_DIR`; the report names a missing
setting.
"""

import pytest

from testkit.providers.alertmanager import alerts as alertmanager
from testkit.providers.paystack import checking as paystack
from testkit.providers.references import OpenApi, references_folder

OPERATIONS = {
    paystack.REFERENCE: paystack.OPERATIONS,
    alertmanager.REFERENCE: alertmanager.API.operations,
}


@pytest.mark.parametrize("reference", OPERATIONS)
def test_operations_agree_with_the_specification(reference):
    folder = references_folder()
    if folder is None:
        return
    specification = OpenApi(folder / reference)
    assert [line for operation in OPERATIONS[reference] for line in specification.differences(operation)] == []
