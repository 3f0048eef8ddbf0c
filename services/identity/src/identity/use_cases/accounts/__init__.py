"""Sign-up, profiles, and proof of an e-mail address."""

__all__ = [
    "change_profile",
    "find_matching_hash",
    "find_user",
    "load_demo",
    "provision_user",
    "sign_up",
]

STEPS = (
    "prove_email",
    "publish_profile",
)
