"""Writes the documents, or says which are stale.

python -m campus_tools.documents           # writes
python -m campus_tools.documents --check   # ends with status 1 when a file is stale
"""

import sys

from campus_tools.documents.files import ROOT, documents, left_over


def main() -> None:
    made = documents()
    if "--check" in sys.argv:
        stale = [
            str(path) for path, text in made.items() if not (ROOT / path).exists() or (ROOT / path).read_text() != text
        ]
        stale += [str(path) for path in left_over(made)]
        sys.exit(f"stale: {', '.join(stale)}; run `make documents`" if stale else 0)
    for path in left_over(made):
        (ROOT / path).unlink()
    for path, text in made.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)


if __name__ == "__main__":
    main()
