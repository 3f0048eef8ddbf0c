"""The SMS companies: Termii, Africa's Talking and Twilio."""
