"""Clients of external providers, one module each. No call inside a unit of work.

`clients/gateway.py` is the port, `clients/paystack.py` and `clients/flutterwave.py` are its adapters.
`GATEWAY_PROVIDER` selects the gateway of new attempts, which record it (`payout_transfers.gateway`) with their
reference, before any call. An attempt is sent, queried and settled there; the attempt after a reset goes to the
present gateway. The comparison of transfers runs for each. Flutterwave has no state for a returned transfer: its
failure after a success is a reversal.
"""
