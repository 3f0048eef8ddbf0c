"""Load the demo data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from common.auth.caller import ServiceItself
from common.database.unit_of_work import Database, UnitOfWork
from common.primitives.ids import new_id, new_secret
from contracts import demo
from contracts.demo import DemoUser
from contracts.identity import (
    CampusChanged,
    HubChanged,
    ReferralOutcome,
    ShopMemberChanged,
    UserProvisioned,
    VendorApproved,
)
from contracts.permissions import SHOP_ROLES, STAFF_ROLES, leading_role
from identity.credentials.passwords import Passwords
from identity.credentials.totp import Totp
from identity.domain import password_rules
from identity.domain.mailboxes import mailbox_of
from identity.store import demo as demo_store
from identity.store import factors, keys, profiles
from identity.use_cases.accounts.steps import publish_profile

LOADING_DEMO: Final = ServiceItself("demo data")


class DemoPasswordMissing(Exception):
    """DEMO_PASSWORD must be set, with at least ten characters, to load the demo data."""


@dataclass(frozen=True, slots=True)
class DemoSecrets:
    """The shared password of the demo accounts, and the TOTP secrets (base32) by account name."""

    password: str = field(repr=False)
    totp_by_name: Mapping[str, str] = field(repr=False)


async def load_demo(
    database: Database, passwords: Passwords, totp: Totp, secrets: DemoSecrets, *, now: datetime
) -> None:
    """Create campuses, hubs, users and vendors of the demo and publish them.

    A repetition changes nothing except a changed password or TOTP secret. Raises DemoPasswordMissing.
    """
    if len(secrets.password) < password_rules.CHARACTERS_MIN:
        raise DemoPasswordMissing(DemoPasswordMissing.__doc__)
    async with database.unit_of_work(acting_as=LOADING_DEMO) as uow:
        hashes = await demo_store.list_password_hashes(uow, [user.id for user in demo.USERS])
    # All accounts share one hash, so one password check covers all.
    good = {text for text in set(hashes.values()) if await passwords.matches(text, secrets.password)}
    password_hash = next(iter(good), None) or await passwords.hash(secrets.password)
    async with database.unit_of_work(acting_as=LOADING_DEMO) as uow:
        await keys.lock_foundations(uow)
        await _load_campuses(uow, now)
        for user in demo.USERS:
            await _load_user(uow, user, now)
            if hashes.get(user.id) not in good:
                await demo_store.save_account(uow, user.id, user.email, password_hash, now)
            await _load_factor(uow, totp, user.id, secrets.totp_by_name.get(user.name), now)
        for vendor in demo.VENDORS:
            if await demo_store.record_vendor_if_new(uow, vendor, now):
                uow.publish(
                    VendorApproved(
                        vendor_id=vendor.id,
                        owner_user_id=vendor.owner_user_id,
                        business_name=vendor.business_name,
                        legal_name=vendor.legal_name,
                        campus_id=vendor.campus_id,
                    )
                )
            for user in demo.USERS:
                packs = user.packing_vendor_id == vendor.id
                if packs and await demo_store.record_packer_if_new(uow, user.id, vendor, now):
                    uow.publish(ShopMemberChanged(user_id=user.id, vendor_id=vendor.id, role="packer"))


async def _load_campuses(uow: UnitOfWork, now: datetime) -> None:
    for campus in demo.CAMPUSES:
        if await demo_store.record_campus_if_new(uow, campus, now):
            uow.publish(CampusChanged(campus_id=campus.id, name=campus.name, active=True))
    for hub in demo.HUBS:
        if await demo_store.record_hub_if_new(uow, hub, now):
            uow.publish(
                HubChanged(
                    hub_id=hub.id,
                    campus_id=hub.campus_id,
                    name=hub.name,
                    delivery_fee_minor=hub.delivery_fee_minor,
                    active=True,
                    address=hub.address,
                )
            )


async def _load_user(uow: UnitOfWork, user: DemoUser, now: datetime) -> None:
    profile = profiles.NewProfile(
        user_id=user.id,
        email=user.email,
        mailbox=mailbox_of(user.email),
        phone=user.phone,
        full_name=user.full_name,
        campus_id=user.campus_id,
        referral_token=new_secret(9),
        email_confirmed=True,
        phone_confirmed=True,
    )
    created = await profiles.record_profile_if_new(uow, profile, now)
    if not created:
        if await demo_store.save_confirmed(uow, user.id, user.email, user.phone):
            # A previous release loaded it before addresses were confirmed.
            await publish_profile(uow, user.id)
        return
    agent_of = demo.AKOKA_HUB.id if "hub_agent" in user.roles else None
    for role in (one for one in user.roles if one not in SHOP_ROLES):
        appointment = user.campus_id if role in STAFF_ROLES else None
        hub_id = agent_of if role == "hub_agent" else None
        await profiles.record_role_if_new(uow, user.id, role, now, campus_id=appointment, hub_id=hub_id)
    uow.publish(
        UserProvisioned(
            user_id=user.id,
            email=user.email,
            phone=user.phone,
            full_name=user.full_name,
            role=leading_role(user.roles),
            campus_id=user.campus_id,
            phone_confirmed=True,
            email_confirmed=True,
            staff_roles=tuple(role for role in user.roles if role in STAFF_ROLES),
            referral=ReferralOutcome(applied=False, reward_minor=0),
            hub_id=agent_of,
        )
    )


async def _load_factor(uow: UnitOfWork, totp: Totp, user_id: UUID, secret: str | None, now: datetime) -> None:
    if secret is None:
        return
    confirmed = [factor for factor in await factors.list_factors(uow, user_id) if factor.confirmed]
    if any(totp.decrypt(factor.id, factor.encrypted_secret) == secret for factor in confirmed):
        return
    await demo_store.delete_factors(uow, user_id)
    factor_id = new_id()
    await factors.record_factor(uow, factor_id, user_id, totp.encrypt(factor_id, secret), now, confirmed=True)
