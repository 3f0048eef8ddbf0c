"""Files of an installation: units that systemd accepts, a private environment for each process, settings that are
refused.
"""

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from campus_tools.servers.install import install
from operations.audit.access import audit_secrets
from operations.campusctl.app import app
from operations.database_settings import DATABASE_SETTINGS
from operations.installation import plan as installation_plan
from operations.installation.errors import InstallationFailed
from operations.installation.files import PlannedFile, changed, environment_file
from operations.installation.plan import PostgresqlCluster, planned_files, preview_secrets, secrets_of
from operations.installation.settings import InstallationSettings, read_installation_settings
from operations.installation.units import INSTALLED, RELEASE, MemoryLimits, unit_name

GIB = 1024**3
PRODUCTION = {
    "ENVIRONMENT": "production",
    "BASE_URL": "https://api.campus.ng",
    "CONSOLE_URL": "https://console.campus.ng",
    "ACME_EMAIL": "ops@campus.ng",
    "GATEWAY_API_URL": "https://api.paystack.co",
    "GATEWAY_SECRET_KEY": "sk_live_1",
    "SMS_API_URL": "https://api.ng.termii.com",
    "SMS_API_KEY": "TL1",
    "SMTP_URL": "smtps://campus:p@mail.campus.ng:465",
    "MAIL_FROM": "Campus <no-reply@campus.ng>",
    "BOOTSTRAP_ADMIN_EMAIL": "admin@campus.ng",
    "BACKUP_REPOSITORY": "/srv/backup",
    "BACKUP_RECOVERY_KEY": "age1",
}


def written(folder: Path, **changes: str) -> Path:
    path = folder / "campus.env"
    path.write_text("".join(f"{name}={text}\n" for name, text in {**PRODUCTION, **changes}.items()))
    return path


@pytest.fixture
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(installation_plan, "STATE_DIR", tmp_path)
    return tmp_path


@pytest.fixture
def files(state_dir: Path) -> list[PlannedFile]:
    settings = read_installation_settings(written(state_dir), 2 * GIB)
    return planned_files(settings, preview_secrets(settings), PostgresqlCluster(15))


def test_the_folder_of_a_restore_is_the_data_of_the_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PostgresqlCluster, "configuration", tmp_path)
    settings = tmp_path / "postgresql.conf"
    settings.write_text("data_directory = '/var/lib/campus-restored/postgresql'\t\t# use data in another directory\n")
    assert PostgresqlCluster(15).data == Path("/var/lib/campus-restored/postgresql")
    settings.write_text("#data_directory = 'ConfigDir'\n")
    assert PostgresqlCluster(15).data == Path("/var/lib/postgresql/15/main")


def test_the_backup_of_secrets_contains_the_settings_of_the_machine(files: list[PlannedFile], state_dir: Path) -> None:
    [backup] = [file for file in files if file.path.name == "backup.env"]
    assert f"BACKUP_SECRET_FILES={state_dir}/secrets.env,/etc/campus/campus.env\n" in backup.content


def environment_of(files: list[PlannedFile], process: str) -> dict[str, str]:
    (file,) = [file for file in files if file.path.name == f"{process}.env"]
    return {line.partition("=")[0]: "".join(shlex.split(line.partition("=")[2])) for line in file.content.splitlines()}


def test_systemd_accepts_every_unit(files: list[PlannedFile], tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        install(["systemd"], why="systemd-analyze is not installed", report=print)
    units = []
    for file in files:
        if file.path.suffix in (".service", ".timer", ".target"):
            # The programs of a machine where nothing is installed.
            text = file.content.replace(f"{RELEASE}/.venv/bin/python", "/bin/true")
            (tmp_path / file.path.name).write_text(text.replace("/usr/local/bin/campusctl", "/bin/true"))
            units.append(str(tmp_path / file.path.name))
    assert len(units) == len(INSTALLED.processes) + 1 + 2 * 3
    ended = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, check=False
    )
    faults = [line for line in ended.stderr.splitlines() if "campus" in line]
    assert (ended.returncode, faults) == (0, [])


def test_every_process_has_an_own_user_a_limit_and_a_start_at_boot(files: list[PlannedFile]) -> None:
    content = {file.path.name: file.content for file in files}
    users = set()
    for plan in INSTALLED.processes:
        lines = content[unit_name(plan)].splitlines()
        users.add(next(line for line in lines if line.startswith("User=")))
        assert {"MemoryMax=320M", "Restart=always", "WantedBy=campus.target"} <= set(lines), plan.name
    assert len(users) == len(INSTALLED.processes)


def test_secrets_are_in_the_environment_of_their_process_alone(files: list[PlannedFile]) -> None:
    holders = [plan.name for plan in INSTALLED.processes if "sk_live_1" in environment_of(files, plan.name).values()]
    assert holders == ["payments", "payouts"]
    assert {file.mode for file in files if file.is_secret} == {0o600}


def test_an_installation_has_neither_sandbox_nor_demo_data(files: list[PlannedFile]) -> None:
    assert all(plan.service != "sandbox" for plan in INSTALLED.processes)
    for plan in INSTALLED.processes:
        environment = environment_of(files, plan.name)
        assert environment.get("DEMO_DATA", "0") == "0"
        assert not any(":8170" in text for text in environment.values()), plan.name
        assert not any(name.startswith("DEMO_TOTP") for name in environment), plan.name
    assert environment_of(files, "orders")["ENVIRONMENT"] == "production"
    assert environment_of(files, "identity")["PASSKEY_RP_ID"] == "campus.ng"


def test_the_metrics_of_backups_have_the_certificates_of_both_hosts(files: list[PlannedFile], state_dir: Path) -> None:
    [backup] = [file.content for file in files if file.path == state_dir / "backup.env"]
    assert "BACKUP_CERTIFICATE_HOSTS=api.campus.ng,console.campus.ng\n" in backup


def test_operators_commands_find_their_addresses(state_dir: Path) -> None:
    settings = read_installation_settings(written(state_dir), GIB)
    known = secrets_of(settings)
    assert "AUDIT_DATABASE_URL" in audit_secrets(state_dir, {})
    assert known["DATABASE_URL"].startswith("postgresql://postgres:")
    assert secrets_of(settings) == known
    assert not {"FLUTTERWAVE_SECRET_KEY", "FCM_SERVICE_ACCOUNT", "DEMO_PASSWORD"} & known.keys()


def test_a_file_that_is_as_planned_is_not_written_again(files: list[PlannedFile], tmp_path: Path) -> None:
    moved = [PlannedFile(tmp_path / str(index), file.content, file.mode) for index, file in enumerate(files)]
    for file in moved:
        file.write()
    assert changed(moved) == []
    moved[0].path.write_text("edited by hand")
    assert changed(moved) == [moved[0]]


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"GATEWAY_API_URL": "http://127.0.0.1:8170/gateway"}, "GATEWAY_API_URL: 127.0.0.1 is this machine"),
        ({"SMS_API_URL": "http://sandbox:8080/sms"}, "SMS_API_URL: sandbox is this machine"),
        ({"BASE_URL": "https://api.campus.example"}, "BASE_URL: api.campus.example is this machine"),
        ({"BASE_URL": "http://api.campus.ng"}, "BASE_URL is no address such as https://"),
        ({"CONSOLE_URL": "https://api.campus.ng"}, "CONSOLE_URL needs a host name other"),
        ({"DEMO_DATA": "1"}, "DEMO_DATA: a production system has no demo accounts"),
        ({"BOOTSTRAP_ADMIN_EMAIL": "platform-admin@campus.example"}, "BOOTSTRAP_ADMIN_EMAIL is the example"),
        ({"ENVIRONMENT": "prod"}, "ENVIRONMENT is prod: one of production, staging"),
        ({"ACME_EMAIL": ""}, "ACME_EMAIL is not set"),
        ({"TLS_KEY_FILE": "/nowhere/key"}, "need each other"),
        ({"BACKUP_REPOSITORY": ""}, "BACKUP_REPOSITORY is not set"),
    ],
)
def test_settings_that_production_cannot_have_are_refused(tmp_path: Path, changes: dict[str, str], found: str) -> None:
    with pytest.raises(InstallationFailed) as error:
        read_installation_settings(written(tmp_path, **changes), GIB)
    assert found in error.value.detail
    assert "sk_live_1" not in error.value.detail


def test_memory_of_servers_follows_that_of_the_machine() -> None:
    small, large = MemoryLimits.of_machine(2 * GIB), MemoryLimits.of_machine(16 * GIB)
    assert (small.postgresql, small.rabbitmq) == (921, 409)
    assert large.postgresql > 4 * small.postgresql
    buffers = next(setting for setting in DATABASE_SETTINGS if setting.name == "shared_buffers")
    assert (buffers.of_machine(2 * GIB), buffers.of_machine(GIB // 2)) == ("256MB", "128MB")


def test_values_of_an_environment_survive_quotes_and_backslashes() -> None:
    text = '[{"name": "C:\\\\school", "key": "it\'s $HOME"}]'
    line = environment_file({"OIDC_PROVIDERS": text, "EMPTY": ""})
    assert shlex.split(line) == [f"OIDC_PROVIDERS={text}"]


def test_dry_run_prints_files_without_their_secrets(state_dir: Path) -> None:
    result = CliRunner().invoke(app, ["install", "--settings", str(written(state_dir)), "--dry-run"])
    assert result.exit_code == 0, result.output
    assert "--- /etc/caddy/Caddyfile (644)" in result.output
    assert "--- /etc/campus/services/payments.env (600)\n(secret)" in result.output
    assert "sk_live_1" not in result.output
    assert not (state_dir / "secrets.env").exists()


def test_template_names_every_setting_that_is_required(tmp_path: Path) -> None:
    printed = CliRunner().invoke(app, ["install", "--template"]).output
    path = tmp_path / "campus.env"
    path.write_text(printed)
    with pytest.raises(InstallationFailed) as error:
        read_installation_settings(path, GIB)
    missing = {line.split()[0] for line in error.value.detail.splitlines()[1:]}
    assert missing == {name for name in PRODUCTION if not name.startswith("BACKUP")}
    assert all(f"{name}=" in printed for name in PRODUCTION)
    assert isinstance(read_installation_settings(written(tmp_path), GIB), InstallationSettings)
