"""Faults of our accounts at the gateways.

A rejected key (401 or 403 in the gateway's own format) is 503 for the buyer and raises one SEV-1 alert for each
gateway (`record_rejected_key`, runbook gateway-key-rejected).
"""
