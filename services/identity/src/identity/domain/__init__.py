"""Pure decisions: addresses, campuses, referrals, standing, sessions."""
