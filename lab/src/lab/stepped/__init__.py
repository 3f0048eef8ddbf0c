"""The system under test in one program: its processes on real servers, their effects, and the order of its steps.

Crash points, races and the simulation are policies on it: crash at an effect, pass the turn at an effect, and choose
each step by a seed.
"""
