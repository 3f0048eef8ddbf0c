"""Staff grants and suspension of users.

**A powerful role needs two users.** `finance_maker`, `finance_checker`, `ops_oncall` and `support_agent` hold a
permission that moves money (`MONEY_PERMISSIONS`), and `platform_admin` appoints approvers. Their grants are prepared,
and apply when another platform_admin than the maker and the grantee approves within 24 hours. The grantee must then
have a second factor (409): otherwise an attacker with the password could enrol one. Other roles are granted at once.
No user grants to, revokes from or suspends themselves (403).

**A group of an identity provider proposes a role** (`groupsClaim`) at its member's sign-in, and gives none. One
platform_admin prepares the proposed grant, another one approves it, also for a role that needs no second approver
otherwise. One of them may reject it; the provider then repeats it after 90 days at the earliest (decision 170).

**A campus admin appoints and dismisses the agents of the hubs of the own campus.** The role moves no money. The
agent's account needs a confirmed address; the reason is in the audit trail. An admin neither appoints nor dismisses
themselves (403).

**Conflicting roles.** `finance_maker` and `finance_checker`, and `platform_admin` and any money role, are never held
by one user (409, and two unique indexes). All appointments of a user are at one campus (409), because a token names
one campus. `merchant` comes from an application, `buyer` from a sign-up; neither is granted (422).

**Changes of staff are serialized** by one advisory lock, and each checks the caller's own role and suspension again
under it. So of two admins who remove each other one stays. The last active platform_admin can be neither revoked nor
suspended (409). Pending decisions of a removed admin are rejected.

**The second admin is appointed by command.** The first admin has no second approver. An operator runs `python -m
identity grant-admin EMAIL` for a user with a confirmed address. The audit trail records it without an actor. The
command exits with status 1 on a rejection.

**A revoked role and a suspension end all sessions** with `identity.session_revoked.v1`. A granted role ends none; it
applies from the next token on. **A suspended user gets the responses of an unknown one**: a right password equals a
wrong one, codes and reset mails are not sent, and a further issuer's token is 401. Every sign-in ends in
`issue_tokens`, which rejects suspended users. The suspension locks profile and account, so a concurrent login is
ended or never starts.
"""
