"""The processes of the payouts service."""

from common.process.service import main
from payouts.app import SERVICE

main(SERVICE)
