"""`python -m campus_tools.observability` writes the rules of Prometheus and the dashboards of Grafana from the tables beside."""

from campus_tools.observability.files import FOLDER, files, left_over

for path in left_over():
    path.unlink()
for name, text in files().items():
    (FOLDER / name).parent.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_text(text)
