"""Sessions: login, refresh, logout, tokens.

**A step-up does not circumvent `allowStaffRoles`.** A federated user who enrols a factor gets an account without
address and password, and a session that records its issuer. Tokens of that session omit staff roles unless the issuer
may assert them. When an issuer is removed or loses that right, the worker ends its sessions within ten minutes.

**Ending all sessions does not affect the next login.** Tokens have a precision of a second. A revocation carries the
start of the current second, and sessions with tokens of that second are revoked by id. A login whose password was
replaced between check and session fails. A password change while signed in ends the other sessions.

**The second factor belongs to a chain of refresh tokens, not to the session.** `mfa/verify` returns a refresh token
with the time of the code, which refreshes keep. So AAL2 ends fifteen minutes after the code. A refresh token from
before the step-up stays at AAL1, so a stolen one does not give AAL2.

**The previous refresh token works for 30 seconds after its exchange** and returns the same successor, for two tabs or
a lost response. Any other reuse ends the session. The successor is an HMAC of the token, computed again and never
stored in the clear. The token is `<session id>.<secret>`, stored as SHA-256, so that the gateway can count refreshes
by session.
"""
