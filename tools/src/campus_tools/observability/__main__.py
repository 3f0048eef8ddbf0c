"""`python -m campus_tools.observability`: write Prometheus rules and Grafana dashboards from the tables of this package."""

from campus_tools.observability.files import FOLDER, files, left_over

for path in left_over():
    path.unlink()
for name, text in files().items():
    (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_text(text)
