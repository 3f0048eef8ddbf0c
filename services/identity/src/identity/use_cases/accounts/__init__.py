"""Sign-up, profiles, and proof of an e-mail address."""

__all__ = [
    "change_profile",
    "find_user",
    "load_demo",
    "match_password",
    "provision_user",
    "publish_profiles",
    "sign_up",
]
