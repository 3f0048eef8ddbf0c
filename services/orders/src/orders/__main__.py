"""The processes of the orders service."""

from common.process.service import main
from orders.app import SERVICE

main(SERVICE)
