"""`python -m identity api | worker | all | migrate | demo-data`."""

from common.process.service import main
from identity.app import SERVICE

main(SERVICE)
