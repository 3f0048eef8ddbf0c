"""Create the profile of a new user."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from common.database.unit_of_work import UnitOfWork
from common.primitives.ids import new_secret
from common.primitives.phone_numbers import phone_number_or_none
from contracts.identity import CampusChanged, ReferralOutcome, UserProvisioned
from identity.credentials.erased_mailboxes import erased_mailbox_hash
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.addresses import is_email, normal_email
from identity.domain.errors import ConcurrentProvisioning
from identity.domain.institutions import Institution, Institutions
from identity.domain.mailboxes import mailbox_of
from identity.domain.referrals import NotRewarded, Provisioned, Rewarded, evaluate_referral
from identity.store import profiles


@dataclass(frozen=True, slots=True)
class NewUser:
    """The data of a new user, not normalized."""

    id: UUID
    email: str
    phone: str | None = None
    full_name: str | None = None
    referral_token: str | None = None
    email_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Provisioning:
    """The institutions that give a campus, the keys of known mailboxes, and the reward of a referral in kobo."""

    institutions: Institutions
    hashes: KeyedHashes
    reward_minor: int


async def provision_user(uow: UnitOfWork, user: NewUser, provisioning: Provisioning, *, now: datetime) -> Provisioned:
    """Create a buyer's profile with the campus of the address, and evaluate the referral token once.

    A repetition for the same id returns the first outcome. An impossible number, an unknown domain and an unknown token
    never fail it (contract section 10). Raises ConcurrentProvisioning, and Misdirected (421)
    for an address of another cell.
    """
    # The user is locked before the mailbox, always in this order, against deadlocks.
    await profiles.lock_new_user(uow, user.id)
    existing = await profiles.find_provisioned(uow, user.id)
    if existing is not None:
        return existing
    email = normal_email(user.email)
    mailbox, phone = mailbox_of(email), phone_number_or_none(user.phone or "")
    await profiles.lock_mailbox(uow, mailbox)
    campus_id = await _find_or_create_campus(uow, provisioning.institutions.institution_of(email), now)
    profile = profiles.NewProfile(
        user_id=user.id,
        email=email,
        mailbox=mailbox,
        phone=phone,
        full_name=user.full_name or None,
        campus_id=campus_id,
        referral_token=new_secret(9),
        email_confirmed=user.email_confirmed,
    )
    created = await profiles.record_profile_if_new(uow, profile, now)
    if not created:
        raise ConcurrentProvisioning
    await profiles.record_role_if_new(uow, user.id, "buyer", now)
    verdict = await _check_token(uow, user, email, mailbox, erased_mailbox_hash(provisioning.hashes, mailbox))
    provisioned = await _record_referral_outcome(uow, verdict, user, mailbox, campus_id, provisioning.reward_minor, now)
    uow.publish(
        UserProvisioned(
            user_id=user.id,
            email=email,
            phone=phone,
            full_name=user.full_name or None,
            role="buyer",
            campus_id=campus_id,
            phone_confirmed=False,
            staff_roles=(),
            email_confirmed=user.email_confirmed,
            referral=ReferralOutcome(
                applied=provisioned.applied,
                reward_minor=provisioned.reward_minor,
                referrer_id=verdict.referrer_id if isinstance(verdict, Rewarded) else None,
            ),
        )
    )
    return provisioned


async def _find_or_create_campus(uow: UnitOfWork, institution: Institution | None, now: datetime) -> UUID | None:
    """Return the institution's campus, created with its first student; None without an institution."""
    if institution is None:
        return None
    campus_id = await profiles.find_campus_id(uow, institution.domain)
    if campus_id is not None:
        return campus_id
    if await profiles.record_campus_if_new(uow, institution, now):
        uow.publish(CampusChanged(campus_id=institution.campus_id, name=institution.name, active=True))
    return await profiles.find_campus_id(uow, institution.domain)


async def _check_token(
    uow: UnitOfWork, user: NewUser, email: str, mailbox: str, mailbox_hash: bytes
) -> Rewarded | NotRewarded:
    token = (user.referral_token or "").strip()
    return evaluate_referral(
        user.id,
        mailbox,
        token_given=bool(token),
        referrer=await profiles.find_referrer(uow, token) if token else None,
        mailbox_known=await profiles.is_mailbox_known(uow, mailbox, mailbox_hash, besides=user.id),
        address_is_plain=is_email(email),
    )


async def _record_referral_outcome(
    uow: UnitOfWork,
    verdict: Rewarded | NotRewarded,
    user: NewUser,
    mailbox: str,
    campus_id: UUID | None,
    reward_minor: int,
    now: datetime,
) -> Provisioned:
    """Store the outcome with the profile, so that a repeated call returns it."""
    referrer_id = verdict.referrer_id if isinstance(verdict, Rewarded) else None
    provisioned = Provisioned(
        user.id,
        campus_id,
        applied=referrer_id is not None,
        reward_minor=0 if referrer_id is None else reward_minor,
        reason=verdict.reason if isinstance(verdict, NotRewarded) else None,
        email_confirmed=user.email_confirmed,
    )
    if referrer_id is not None:
        await profiles.record_referral(
            uow, user_id=user.id, referrer_id=referrer_id, mailbox=mailbox, reward_minor=reward_minor, now=now
        )
    await profiles.save_referral_outcome(uow, provisioned)
    return provisioned
