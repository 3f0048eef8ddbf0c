# Sourced by the scripts of this folder.

# need_node WHAT: ends where Node is absent.
need_node() {
    command -v npm >/dev/null && return
    echo "$1 needs Node 20 or newer with npm (https://nodejs.org); nothing was checked." >&2
    exit 1
}

# Installs the tools of this folder, unless they are up to date with their lock files.
install_tools() {
    local uv
    uv=$(command -v uv || echo ../.venv/bin/uv)
    if [ ! node_modules -nt package-lock.json ] || [ ! .venv -nt requirements.txt ]; then
        npm ci --ignore-scripts --silent
        "$uv" venv --quiet --clear --python ../../.venv/bin/python .venv
        "$uv" pip sync --quiet --require-hashes --python .venv/bin/python requirements.txt
        touch node_modules .venv
    fi
}

# Exports the addresses and the demo accounts' password of the running system of STATE_DIR and PORT_BASE.
name_system() {
    local base=${PORT_BASE:-8080} secrets
    secrets=$(cd ../.. && realpath -m "${STATE_DIR:-.state}")/secrets.env
    [ -n "${DEMO_PASSWORD:-}" ] || [ -f "$secrets" ] || { echo "No running system: $secrets is missing. Start it with make run." >&2; exit 1; }
    export BASE_URL=${BASE_URL:-http://127.0.0.1:$base} SANDBOX_URL=${SANDBOX_URL:-http://127.0.0.1:$((base + 90))}
    export DEMO_PASSWORD=${DEMO_PASSWORD:-$(sed -n 's/^DEMO_PASSWORD=//p' "$secrets")}
}
