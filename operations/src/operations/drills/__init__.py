"""Drills of the people on call: a fault is planted on a staging system, and the clock runs until its alert is cleared.

Each drill uses what the public or an operator can do: the interfaces of the sandbox, requests, messages of the broker,
stopped processes. No drill writes to a database. `scene` has what a drill works with, `catalog` lists the ten,
`running` has the clock.
"""
