"""The steps of the drill on an empty machine: install twice, sell, restart after a kill; after a boot, upgrade; and
on a second machine, restore.

python -m lab.drills.installation.inside sell RESULT
"""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx

from campus_tools.children import open_log
from operations.campusctl.own_commands import RunningServers
from operations.demo import play
from operations.environment import Environments
from operations.installation.host import wait_ready
from operations.installation.settings import PORT_BASE, STATE_DIR
from operations.installation.units import INSTALLED, unit_name
from operations.processes import CAMPUS, SANDBOX_MAIL_PORT, SANDBOX_PORT
from operations.secrets import read_secrets

SETTINGS: Final = Path("/etc/campus/campus.env")
API: Final = "https://api.campus.test"
_CERTIFICATE: Final = Path("/etc/campus/edge.pem")
_KEY: Final = Path("/etc/campus/edge.key")
_FIRST: Final = Path("/opt/campus/releases/first")
_NEXT: Final = Path("/opt/campus/releases/next")
_BROKEN: Final = Path("/opt/campus/releases/broken")
_REPOSITORY: Final = Path("/srv/campus-repository")
_RECOVERY_KEY: Final = Path("/root/recovery.key")
KEPT: Final = ("srv", "root/recovery.key", "etc/campus/edge.pem", "etc/campus/edge.key")
"""What a lost machine does not take with it: the repository, the key, the certificate, and the sandbox's state."""
_PUBLISHERS: Final = ("identity", "orders", "payments", "payouts", "notifications")
_GROUPS: Final = Path("/sys/fs/cgroup/memory")
_MIB: Final = 1024**2


def main() -> int:
    part, file = sys.argv[1], Path(sys.argv[2])
    result: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    try:
        {"sell": _sell, "upgrade": _upgrade, "restore": _restore}[part](result)
    except BaseException as error:
        result["failure"] = f"{type(error).__name__}: {error}"
    finally:
        file.write_text(json.dumps(result, default=str))
    return 0


def _sell(result: dict[str, Any]) -> None:
    _prepare()
    _copy_release(_FIRST)
    result["first installation"] = f"{_timed('install', '--yes', program=_FIRST):.0f} s"
    result["second installation"] = _campusctl("install", "--yes").splitlines()[0]
    _start_sandbox()
    _campusctl("demo", "load", "--yes")
    result["audit after the purchase is clean"] = asyncio.run(play(STATE_DIR, PORT_BASE))
    result["memory"] = _memory()
    result["restarted after a kill"] = _kill("campus-orders.service")


def _upgrade(result: dict[str, Any]) -> None:
    os.environ |= _addresses()
    _start_sandbox()
    result["ready after the boot"] = f"{_wait_served():.0f} s later"
    _campusctl("backup", "init")
    _copy_release(_NEXT)
    result["upgrade"] = f"{_timed('upgrade', '--yes', program=_NEXT):.0f} s"
    _copy_release(_BROKEN)
    shutil.rmtree(_BROKEN / "services/payouts/src/payouts/use_cases")
    result["broken upgrade"] = _rejected("upgrade", "--yes", program=_BROKEN)
    result["release after the broken upgrade"] = str(Path("/opt/campus/current").resolve())
    result["audit at the end"] = json.loads(_campusctl("audit", "--json"))["ok"]
    result["status"] = json.loads(_campusctl("status", "--json", accepts=(0, 4)))["data"]
    _campusctl("backup", "verify", "--recovery-key", str(_RECOVERY_KEY))
    result["orders"] = _count_orders()


def _restore(result: dict[str, Any]) -> None:
    """Run the commands of docs/operating.md as they stand there, and those of the runbook of a restore."""
    _name_hosts()
    os.environ |= _addresses()
    _copy_release(_NEXT)
    Path("/root/restore.env").write_text(f"BACKUP_REPOSITORY={_REPOSITORY}\n")
    began = time.monotonic()
    _run_section("The machine is lost")
    result["restored and installed by the commands of the page"] = f"{time.monotonic() - began:.0f} s"
    _start_sandbox()
    _campusctl("service", "payouts", "compare-transfers")
    now = datetime.now(UTC)
    for service in _PUBLISHERS:
        _campusctl("service", service, "republish", "--since", (now - timedelta(hours=1)).isoformat())
    _campusctl("service", "payments", "reconcile", "--from", (now - timedelta(days=1)).isoformat())
    _campusctl("ledger", "verify")
    result["audit after the restore"] = json.loads(_campusctl("audit", "--json"))["ok"]
    result["orders lost by the restore"] = result["orders"] - _count_orders()
    result["restored, compared, republished, audited after"] = f"{time.monotonic() - began:.0f} s"
    _campusctl("backup", "run")
    _campusctl("backup", "verify")


def _count_orders() -> int:
    query = ["psql", "-At", "-d", "campus_orders", "-c", "SELECT count(*) FROM orders"]
    command = ["runuser", "-u", "postgres", "--", *query]
    return int(subprocess.run(command, cwd="/", check=True, capture_output=True, text=True).stdout)


def _run_section(heading: str) -> None:
    """Run the commands of a section of docs/operating.md in the release's folder. Raises AssertionError."""
    section = (_NEXT / "docs/operating.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    script = "".join(f"{line[4:]}\n" for line in section.splitlines() if line.startswith("    "))
    assert script, heading
    _log(script)
    ended = subprocess.run(["sh", "-euxc", script], cwd=_NEXT, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise AssertionError(f"{heading}: {ended.stdout[-2000:]}{ended.stderr[-2000:]}")


def _name_hosts() -> None:
    hosts = Path("/etc/hosts")
    hosts.write_text(f"{hosts.read_text()}127.0.0.1 api.campus.test console.campus.test\n")


def _prepare() -> None:
    """Write what the operator has before: the settings, a certificate, names."""
    _name_hosts()
    SETTINGS.parent.mkdir(exist_ok=True)
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "30", "-subj", "/CN=campus.test",
         "-addext", "subjectAltName=DNS:api.campus.test,DNS:console.campus.test",
         "-keyout", str(_KEY), "-out", str(_CERTIFICATE)], check=True, capture_output=True,
    )  # fmt: skip
    _KEY.chmod(0o644)
    os.environ |= _addresses()
    sandbox = os.environ["SANDBOX_URL"]
    printed = subprocess.run(
        [_program(), "backup", "recovery-key", "--out", str(_RECOVERY_KEY)], check=True, capture_output=True, text=True
    ).stdout
    values = {
        "ENVIRONMENT": "staging",
        "BASE_URL": API,
        "CONSOLE_URL": "https://console.campus.test",
        "TLS_CERTIFICATE_FILE": str(_CERTIFICATE),
        "TLS_KEY_FILE": str(_KEY),
        "GATEWAY_API_URL": f"{sandbox}/gateway",
        "GATEWAY_SECRET_KEY": "sk_live_of_the_drill",
        "FLUTTERWAVE_API_URL": f"{sandbox}/flutterwave/v3",
        "FLUTTERWAVE_RETURN_URL": f"{sandbox}/",
        "SMS_API_URL": f"{sandbox}/sms",
        "SMS_API_KEY": "key",
        "SMS_FALLBACK_API_URL": f"{sandbox}/sms",
        "SMTP_URL": f"smtp://127.0.0.1:{PORT_BASE + SANDBOX_MAIL_PORT}",
        "SMTP_PLAINTEXT": "true",
        "MAIL_FROM": "Campus <no-reply@campus.test>",
        "MESSAGING_API_URL": f"{sandbox}/messaging",
        "PUSH_API_URL": f"{sandbox}/push",
        "FCM_TOKEN_URL": f"{sandbox}/push/oauth/token",
        "ON_CALL_URL": f"{sandbox}/on-call/api/v2/alerts",
        "BOOTSTRAP_ADMIN_EMAIL": "platform-admin@campus.example",
        "BACKUP_REPOSITORY": str(_REPOSITORY),
        "BACKUP_RECOVERY_KEY": printed.splitlines()[0].partition("=")[2],
    }
    SETTINGS.write_text("".join(f"{name}={text}\n" for name, text in values.items()))


def _addresses() -> dict[str, str]:
    sandbox = f"http://127.0.0.1:{PORT_BASE + SANDBOX_PORT}"
    return {"BASE_URL": API, "SANDBOX_URL": sandbox, "SSL_CERT_FILE": str(_CERTIFICATE)}


def _program(release: Path | None = None) -> str:
    installed = Path("/usr/local/bin/campusctl")
    if release is None and installed.exists():
        return str(installed)
    return str((release or Path(sys.prefix).parent) / ".venv/bin/campusctl")


def _log(text: str) -> None:
    with open_log(Path("/srv/steps.log")) as log:
        log.write(f"{time.strftime('%H:%M:%S')} {text}\n".encode())


def _campusctl(*arguments: str, program: Path | None = None, accepts: tuple[int, ...] = (0,)) -> str:
    _log(f"campusctl {' '.join(arguments)}")
    ended = subprocess.run(
        [_program(program), *arguments],
        env={"PATH": os.environ["PATH"], "SSL_CERT_FILE": str(_CERTIFICATE)},
        capture_output=True,
        text=True,
        check=False,
    )
    if ended.returncode not in accepts:
        raise AssertionError(f"campusctl {' '.join(arguments)}: {ended.stdout[-3000:]}{ended.stderr[-3000:]}")
    return ended.stdout


def _timed(*arguments: str, program: Path | None = None) -> float:
    began = time.monotonic()
    _campusctl(*arguments, program=program)
    return time.monotonic() - began


def _rejected(*arguments: str, program: Path) -> str:
    ended = subprocess.run([_program(program), *arguments], capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        raise AssertionError("a broken release was installed")
    return ended.stderr.strip().splitlines()[0]


def _start_sandbox() -> None:
    """Start the sandbox as the company on the other side, with the secrets that the settings name."""
    secrets = read_secrets(STATE_DIR / "secrets.env")
    servers = RunningServers(secrets["DATABASE_URL"], secrets["BROKER_URL"])
    environments = Environments({}, port_base=PORT_BASE, state_dir=Path("/srv"), servers=servers, secrets=secrets)
    plan = next(plan for plan in CAMPUS.processes if plan.service == "sandbox")
    environment = environments.for_process(plan, None)
    with Path("/var/log/sandbox.log").open("w") as log:
        subprocess.Popen([sys.executable, "-m", "sandbox"], env=environment, stdout=log, stderr=log)
    wait_ready("the sandbox", PORT_BASE + SANDBOX_PORT)


def _memory() -> dict[str, str]:
    """Return the peak of each unit in MiB, and its limit."""
    rows = {}
    for name in _limited_units():
        group = _GROUPS / _shown(name, "ControlGroup").lstrip("/")
        used, limit, failures = (
            int((group / f"memory.{name}").read_text()) for name in ("max_usage_in_bytes", "limit_in_bytes", "failcnt")
        )
        statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        resident = int(statistics["rss"]) // _MIB
        rows[name] = f"{resident} resident, {used // _MIB} with cache, limit {limit // _MIB}, {failures} times full"
    return rows


def _limited_units() -> list[str]:
    """Return the running units of the system and of its servers."""
    listed = subprocess.run(
        ["systemctl", "list-units", "--type=service", "--state=running", "--plain", "--no-legend",
         "campus-*", "postgresql@*", "rabbitmq-server*", "redis-server*", "caddy*"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return sorted(line.split()[0] for line in listed.splitlines())


def _shown(unit: str, key: str) -> str:
    command = ["systemctl", "show", unit, f"--property={key}", "--value"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _kill(unit: str) -> str:
    before = _shown(unit, "MainPID")
    os.kill(int(before), signal.SIGKILL)
    began = time.monotonic()
    while _shown(unit, "MainPID") in ("0", before):
        time.sleep(0.1)
    wait_ready(unit, PORT_BASE + next(plan.health_offset for plan in INSTALLED.processes if unit_name(plan) == unit))
    return f"{time.monotonic() - began:.1f} s"


def _wait_served() -> float:
    """Return the seconds until every process is ready and Caddy serves the API."""
    began = time.monotonic()
    for plan in INSTALLED.processes:
        wait_ready(plan.name, PORT_BASE + plan.health_offset)
    httpx.get(f"{API}/health/readiness").raise_for_status()
    return time.monotonic() - began


def _copy_release(into: Path) -> None:
    """Copy this release with its environment, whose files name their folder."""
    source = Path(sys.prefix).parent
    into.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        source, into, symlinks=True, ignore=shutil.ignore_patterns(".git", ".state", "node_modules", "build")
    )
    packages = next((into / ".venv/lib").glob("python*/site-packages"))
    for path in (*packages.glob("*.pth"), into / ".venv/bin/campusctl"):
        path.write_text(path.read_text().replace(str(source), str(into)))


if __name__ == "__main__":
    sys.exit(main())
