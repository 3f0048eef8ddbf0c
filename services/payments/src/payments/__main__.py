"""`python -m payments api | worker | all | migrate`."""

from common.process.service import main
from payments.app import SERVICE

main(SERVICE)
