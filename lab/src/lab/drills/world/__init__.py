"""Break disks, clocks, networks and parts of the broker, one named fault after another."""

from lab.drills.world.drill import drill_world
from lab.drills.world.faults import FAULTS

__all__ = ["FAULTS", "drill_world"]
