"""Kills a process before and after each statement, commit, publish, acknowledgement and provider call of a scenario."""
