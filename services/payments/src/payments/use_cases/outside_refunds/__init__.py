"""Refunds that were made in the gateway's dashboard (contract section 7.6).

**A refund that is not ours** (no note of ours, and an id that no attempt has) was made in the gateway's dashboard
(decision 88). `record_outside_refund` takes it from the order, `apply_outside_update` settles or returns it, and two
people correct it (`prepare_correction`, `correct_outside_refund`).
"""
