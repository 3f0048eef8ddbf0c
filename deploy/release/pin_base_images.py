"""Pin the images of others by digest, in `deploy/base-images.txt` and in every file that names one:

    .venv/bin/python deploy/release/pin_base_images.py           the digests that the tags have today
    .venv/bin/python deploy/release/pin_base_images.py --tags    the tags alone

Digests are those of `docker buildx imagetools`, for all platforms of an image. Commit what changed.
"""

import argparse
import re
from itertools import chain
from pathlib import Path

from pin_images import ROOT, digest_of

LIST = "deploy/base-images.txt"
PLACES = (
    LIST,
    "deploy/Dockerfile",
    "docker-compose*.yml",
    "deploy/compose/*.yaml",
    "deploy/k8s/**/*.yaml",
    "tools/src/campus_tools/servers/provider.py",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tags", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    options = parser.parse_args()
    lines = (options.root / LIST).read_text().splitlines()
    tags = [line.partition("@")[0] for line in lines if not line.startswith("#")]
    references = {tag: tag if options.tags else f"{tag}@{digest_of(tag)}" for tag in tags}
    named = re.compile(rf"(?<![\w./-])({'|'.join(map(re.escape, tags))})(?:@sha256:[0-9a-f]{{64}})?(?![\w.@-])")
    for path in sorted(chain.from_iterable(options.root.glob(place) for place in PLACES)):
        text = path.read_text()
        pinned = named.sub(lambda found: references[found[1]], text)
        if pinned != text:
            path.write_text(pinned)
            print(path.relative_to(options.root))


if __name__ == "__main__":
    main()
