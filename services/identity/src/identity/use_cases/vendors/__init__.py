"""Vendors, their applications and their commission.

**A suspended vendor keeps its owner's role and `vendor_id`**, so that open orders finish. Orders and payouts reject
new business themselves. Each evaluates suspensions and name changes by separate sequences.

**Application, decision and erasure lock the applicant's profile row.** Of two concurrent ones the second sees the
first. One open application is a partial unique index, and a constraint forbids deciding on one's own. A decision
needs a session of AAL2 and no step-up, as the contract lists none.

**A commission needs two users as well** (decision 30). A trigger refuses a commission without an approved change.
Earlier orders keep theirs.
"""
