from common.process import main
from payments.app import SERVICE

main(SERVICE)
