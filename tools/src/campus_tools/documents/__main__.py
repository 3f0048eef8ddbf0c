"""Write the documents, or list the stale ones.

python -m campus_tools.documents             # writes the served documents, then the clients
python -m campus_tools.documents --clients   # writes the clients alone, from the committed OpenAPI document
python -m campus_tools.documents --check     # ends with status 1 when a served document is stale
"""

import sys
from pathlib import Path

from campus_tools.documents.files import ROOT, clients, served_documents


def stale_documents() -> list[str]:
    """Return the served documents that differ from the code."""
    return [
        str(path)
        for path, text in served_documents().items()
        if not (ROOT / path).exists() or (ROOT / path).read_text() != text
    ]


def main() -> None:
    if "--check" in sys.argv:
        stale = stale_documents()
        sys.exit(f"stale: {', '.join(stale)}; run `make documents`" if stale else 0)
    if "--clients" not in sys.argv:
        _write(served_documents())
    _write(clients())


def _write(documents: dict[Path, str]) -> None:
    for path, text in documents.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)


if __name__ == "__main__":
    main()
