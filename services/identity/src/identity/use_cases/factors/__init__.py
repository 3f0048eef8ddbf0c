"""Second factors: TOTP, passkeys, recovery codes.

**An attacker cannot plant a second factor.** A factor counts from its first code on. With a confirmed factor,
enrolling and confirming another needs a recent AAL2. Enrolling deletes unconfirmed factors. After five consecutive
wrong codes the next one waits, from 30 s doubling to 15 min.

**The removal of a factor ends its step-ups.** Every refresh token that it stepped up is at AAL1 from its next use.
The removal of the last factor also removes the recovery codes and their step-ups. An issued access token stays valid
for at most fifteen minutes. Staff keep one confirmed factor.

**A step-up counts from its full second**, because tokens have no fractions, so it ends everywhere at once. `amr`
names the method (`totp`, `passkey`, `recovery_code`), which is stored with the chain.

**Recovery codes** hold 80 random bits and are stored as HMAC-SHA-256 under the hash key (`hash_keys`), so key
rotations leave them valid. Wrong ones count together with wrong TOTP codes.

**Passkeys** sign with EdDSA or ES256, always with user verification. No attestation is requested; only `none` and
self-attestation are parsed. A challenge is valid for five minutes in one session and for one valid response; a
rejected response changes nothing. A signature counter that does not increase is rejected and logged. A credential id
belongs to one user, who has at most ten factors of a kind.

**A lost factor is reset by two people.** Support prepares it, which notifies the user at once;
a platform_admin approves it, 24 hours later at the earliest. A factor that was used since, and the user's own
hand, refuse it. The approval removes every factor and recovery code and ends all sessions (decision 194).
"""
