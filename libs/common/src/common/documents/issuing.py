"""The numbers of documents: without gaps for each vendor and kind, drawn in the transaction of the fact.

The counter's row stays locked until the commit, so that a rolled back transaction leaves no gap. It is the last row
that a transaction locks: call it in a deferred write of `ISSUING_RANK` (decision 102).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from common.database.outbox import Writes
from common.database.unit_of_work import Reads, UnitOfWork
from common.documents.document import DocumentKind

ISSUING_RANK: Final = 9

# A document that exists keeps its number. The counters of several vendors are locked in the order of their ids.
_ISSUE: Final = Writes(
    """
facts AS (
    SELECT fact.*, row_number() OVER (PARTITION BY fact.vendor_id ORDER BY fact.place) AS place_of_vendor
    FROM unnest($2::uuid[], $3::uuid[], $4::uuid[], $5::jsonb[], $6::text[], $7::timestamptz[]) WITH ORDINALITY
        AS fact (subject_id, vendor_id, recipient_id, content, recipient_encrypted, issued_at, place)
    WHERE NOT EXISTS (SELECT FROM issued_documents WHERE issued_documents.subject_id = fact.subject_id)
), drawn AS (
    INSERT INTO document_counters AS counter (vendor_id, kind, last)
    SELECT vendor_id, $1, count(*) FROM facts GROUP BY vendor_id ORDER BY vendor_id
    ON CONFLICT (vendor_id, kind) DO UPDATE SET last = counter.last + excluded.last
    RETURNING vendor_id, last
), issued AS (
    INSERT INTO issued_documents (subject_id, kind, vendor_id, number, recipient_id, content, recipient_encrypted,
        issued_at)
    SELECT subject_id, $1, vendor_id, last - count(*) OVER (PARTITION BY vendor_id) + place_of_vendor, recipient_id,
        content, recipient_encrypted, issued_at
    FROM facts JOIN drawn USING (vendor_id)
    RETURNING 1
)
""",
    "(SELECT count(*) FROM issued) AS issued_documents",
    final="true",
)
_FIND: Final = """
SELECT subject_id, vendor_id, number, recipient_id, content, recipient_encrypted, issued_at
FROM issued_documents WHERE kind = $1 AND subject_id = ANY ($2) ORDER BY subject_id
"""


class NewDocument(NamedTuple):
    """The facts of a document. `content` is stored as JSON, the recipient's name encrypted or empty."""

    subject_id: UUID
    vendor_id: UUID
    recipient_id: UUID | None
    content: object
    recipient_encrypted: str
    issued_at: datetime


class IssuedDocument(NamedTuple):
    """The frozen facts of a document, and its number of the vendor and kind."""

    subject_id: UUID
    vendor_id: UUID
    number: int
    recipient_id: UUID | None
    content: object
    recipient_encrypted: str
    issued_at: datetime


async def issue_documents(
    uow: UnitOfWork, kind: DocumentKind, documents: Sequence[NewDocument], *, with_next: bool = False
) -> None:
    """Issue documents with the next numbers; one of a subject that has one is skipped. The caller has locked the
    subjects. `with_next`: in the statement of the next write, after which the transaction locks no row of others.
    """
    if documents:
        write = uow.write_with_next if with_next else uow.write
        await write(_ISSUE, kind, *map(list, zip(*documents, strict=True)))


async def find_documents(reads: Reads, kind: DocumentKind, subject_ids: Sequence[UUID]) -> list[IssuedDocument]:
    """Return the visible documents of these subjects, by the subject's id."""
    return [IssuedDocument(*row) for row in await reads.fetch(_FIND, kind, list(subject_ids))]
