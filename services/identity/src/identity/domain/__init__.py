"""Pure decisions: addresses, campuses, referrals, authorization, sessions."""
