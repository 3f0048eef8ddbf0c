"""Free the budgets of a mailbox."""

from common.database.unit_of_work import UnitOfWork
from identity.credentials.code_hashes import budget_hash_of
from identity.credentials.keyed_hashes import KeyedHashes
from identity.domain.message_budgets import CountedAs, mail_budgets
from identity.store import message_counts


async def free_mail_budgets(
    uow: UnitOfWork, hashes: KeyedHashes, counted_as: CountedAs, email: str, source: str
) -> None:
    """Clear the counts of a mailbox whose owner has redeemed a code."""
    budgets = mail_budgets(counted_as, email, source)
    await message_counts.clear_counts(uow, [budget_hash_of(hashes, budget) for budget in budgets])
