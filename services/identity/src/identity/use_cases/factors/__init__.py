"""Second factors: TOTP, passkeys, recovery codes."""

__all__ = [
    "enroll_factor",
    "register_passkey",
    "remove_factor",
    "renew_recovery_codes",
    "start_passkey_assertion",
    "start_passkey_registration",
    "verify_factor",
    "verify_passkey",
]
