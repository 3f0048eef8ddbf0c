"""Build the documentation site.

python -m campus_tools.guides            # into the gateway's package, which serves it, and the index into that of
                                         # notifications, for its tool search_docs; checks all links first;
                                         # and the runbooks into the console's package
python -m campus_tools.guides FOLDER     # into another folder, without other files of the repository
"""

import sys
from pathlib import Path

from campus_tools.guides.runbooks import RUNBOOKS, build_runbooks
from campus_tools.guides.site import (
    SITE,
    TOOL_DOCUMENTATION,
    BrokenLink,
    build_site,
    check_links,
    pages_of,
    read_chapters,
)

if len(sys.argv) > 1:
    build_site(Path(sys.argv[1]))
else:
    try:
        check_links(pages_of(read_chapters()))
    except BrokenLink as problem:
        sys.exit(f"The guides were not built: {problem}")
    build_site(SITE)
    TOOL_DOCUMENTATION.write_bytes((SITE / "search.json").read_bytes())
    build_runbooks(RUNBOOKS)
