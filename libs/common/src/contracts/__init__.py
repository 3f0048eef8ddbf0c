"""The published language: what services say to each other, and the roles that all of them know. Imports nothing of ours."""
