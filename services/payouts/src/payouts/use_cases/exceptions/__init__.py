"""Payout exceptions: severity, escalation, resolution.

**Opening**: one open exception for each payout, batch or vendor. The cause follows from the reports of bank and
gateway (`gateway_response`, `failures`, the status), never from our own narration of a transfer. Cause and severity
are one table (`domain/severity.py`, `tests/unit/test_severity.py`). SEV-1: the gateway's balance, a bank's switch or
a timeout, a wrong credit, money that may have been paid twice, and more than five vendors of one batch. SEV-2: above
200,000 naira, or another rejected attempt of the vendor within 30 days. Else SEV-3. `respondBy` counts from the
opening. Failures of one batch are counted under the batch's lock: the sixth vendor's raises the batch's other open
ones to SEV-1 and alerts again. The vendor is notified once for each exception (`payout_delayed`), and not when they
have the money.

**Further reports** of a payout with an open exception: a more specific reason becomes the cause, unless staff have
set one. The worse severity stays, and only staff lower one. The history (`payout_exception_acts`) is append-only:
`classified`, `changed` (by the service), `noted`, `closed`, with before, after, note, author and time. A raise of the
severity by staff alerts the on-call staff; a lowering does not.

**Closing**: a confirmed success of the same attempt, reset, restitution and reversal close it. Staff can close only
what is settled: no money of the payout is held, and it is `failed` (the wallet has the money), or `processed` and not
reversed since without a reversal in the wallet. A batch's exception concerns no money and may be closed at any time.
Each closing publishes `exception_closed` and clears its alert (`operations.alert_cleared`).

**Observations**, over `PAYOUT_OBSERVATION_WINDOW_SECONDS` (3600). `attempts` counts transfer attempts that started in
the window or opened an exception in it, and each batch that was stopped before its first transfer (short balance) as
one. `failures` counts those of them that opened an exception in the window. `bySeverity` and `byCause` count the same
failures, an attempt by its newest exception, and exceptions that hold a vendor, which are no attempt. Above 5 % over
at least `PAYOUT_OBSERVATION_ATTEMPTS_MIN` attempts (1: the specification's literal rule) the worker raises one SEV-2
alert, once for all workers (`standing_alerts`). It clears when the rate stayed below 3 % for
`PAYOUT_OBSERVATION_CALM_SECONDS` (600). `alerting`: it is open, or would be raised now. Three or more failures at one
bank's switch within 15 minutes raise one SEV-1 alert for the bank, until none of them is open. Gauges:
`payout_failure_rate`, `payout_attempts_in_window`.
"""
