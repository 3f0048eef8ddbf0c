"""A disk that fails and a clock that steps, in processes that preload `shim.c`."""

import mmap
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Final, Self

_SOURCE: Final = Path(__file__).with_name("shim.c")
_CONTROL: Final = Struct("iii")
ALWAYS: Final = -1


@dataclass(frozen=True, slots=True)
class Shim:
    """The compiled shim with the file that steers it. `folder`: the folder whose files fail."""

    library: Path
    control: Path
    folder: Path
    shared: mmap.mmap

    @classmethod
    def build(cls, home: Path, folder: Path) -> Self:
        """Compile the shim into `home`, which its processes can read.

        Raises:
            ChildProcessError: the machine has no C compiler, or it fails.
        """
        compiler = shutil.which("cc") or shutil.which("gcc")
        if compiler is None:
            raise ChildProcessError("to fail disks and step clocks this drill needs a C compiler: apt-get install gcc")
        home.mkdir(parents=True, exist_ok=True)
        library, control = home / "shim.so", home / "shim.control"
        command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(_SOURCE), "-ldl"]
        compiled = subprocess.run(command, capture_output=True, text=True, check=False)
        if compiled.returncode:
            raise ChildProcessError(f"the shim was not compiled: {compiled.stderr}")
        library.chmod(0o755)
        control.write_bytes(bytes(_CONTROL.size))
        # An unprivileged server counts in it how many of its calls still fail.
        control.chmod(0o666)
        with control.open("r+b") as file:
            return cls(library, control, folder, mmap.mmap(file.fileno(), _CONTROL.size))

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process that preloads the shim."""
        return {"LD_PRELOAD": str(self.library), "SHIM_CONTROL": str(self.control), "SHIM_FOLDER": str(self.folder)}

    def set(self, *, syncs: int = 0, writes: int = 0, clock_seconds: int = 0) -> None:
        """Let so many calls of fsync and write fail with EIO, or ALWAYS. Step the clock ahead of the machine's."""
        self.shared[:] = _CONTROL.pack(syncs, writes, clock_seconds)
