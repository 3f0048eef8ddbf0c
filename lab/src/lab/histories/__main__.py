"""Check stored histories again; status 1 when one has an anomaly."""

import argparse
import sys
from pathlib import Path

from lab.histories.checking import check_file
from lab.histories.reading import read_history


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.histories", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a history that a drill or a soak wrote")
    anomalies = 0
    for path in parser.parse_args().files:
        found = check_file(path)
        anomalies += len(found)
        print(f"{path}: {len(read_history(path)[-1].operations)} operations, {len(found)} anomalies")
        for text in found:
            print(f"  {text}")
    return 1 if anomalies else 0


if __name__ == "__main__":
    sys.exit(main())
