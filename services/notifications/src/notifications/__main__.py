"""The processes of the notifications service: `python -m notifications api | worker | all | migrate`."""

from common.process import main
from notifications.app import SERVICE

main(SERVICE)
