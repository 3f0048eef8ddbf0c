"""The mailbox of the sandbox with the names of the demo accounts."""

import httpx

from contracts.demo import USERS

# The sandbox is on this machine, and ready before.
_SECONDS_MAX = 10.0


def name_demo_mailboxes(sandbox_url: str) -> None:
    """Let the mailbox show the mails and text messages of a demo account together, under its name."""
    with httpx.Client(base_url=sandbox_url, timeout=_SECONDS_MAX, trust_env=False) as client:
        for user in USERS:
            mailbox = {"name": f"{user.full_name} ({user.roles[-1]})", "addresses": [user.email, user.phone]}
            client.put("/control/people", json=mailbox).raise_for_status()
