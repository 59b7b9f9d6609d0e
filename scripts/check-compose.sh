#!/usr/bin/env bash
# Checks compose.yaml and Dockerfile without a Docker engine: compose can read the file, variables reach their settings, the
# Rust release is the one in Cargo.toml, and the health check as compose read it initiates a replica set on a mongod that was
# started with the arguments of the service. Of the sharded cluster it checks that its parts name each other, that its members have
# the same health check, and the scripts with shellcheck; no cluster is started. Prints what it could not check.
set -euo pipefail
cd "$(dirname "$0")/.."

# In CI, a skipped check is a failure.
skip() { printf 'check-compose: not checked: %s\n' "$1" >&2; [[ -z ${CI-} ]] || exit 1; exit 0; }
fail() { printf 'check-compose: %s\n' "$1" >&2; exit 1; }

rust=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
grep -qF "FROM rust:$rust-bookworm AS build" Dockerfile || fail "Dockerfile does not build with Rust $rust as Cargo.toml says"

# Prints the configuration as JSON. Compose 1 only writes YAML, but installs a YAML reader for the system's Python.
if docker compose version &>/dev/null; then
    configuration() { docker compose config --format json; }
elif [[ $(docker-compose version --short 2>/dev/null) == 1.* ]]; then
    configuration() { docker-compose config | /usr/bin/python3 -c 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)'; }
elif command -v docker-compose >/dev/null; then
    configuration() { docker-compose config --format json; }
else
    skip 'compose.yaml, as there is no docker compose (on Debian: apt-get install docker-compose)'
fi

work=$(mktemp -d)
server=''
stop() {
    [[ -z $server ]] || kill "$server" 2>/dev/null || true
    [[ -z $server ]] || wait "$server" || true
    server=''
}
clean() { stop; rm -rf -- "$work"; }
trap clean EXIT

given_mongod=${DOCSHAPE_MONGOD-}
given_mongosh=${DOCSHAPE_MONGOSH-}
unset "${!MONGO_@}" "${!DOCSHAPE_@}" COMPOSE_FILE COMPOSE_PROFILES
configuration >"$work/default.json" || fail 'compose does not accept compose.yaml'
MONGO_TAG=7.0 MONGO_CACHE_GB=0.25 MONGO_CPUS=2 MONGO_CPUSET=0,1 DOCSHAPE_CPUS=1.5 DOCSHAPE_CPUSET=2 \
    DOCSHAPE_RESULTS=./here DOCSHAPE_USER=7:8 configuration >"$work/chosen.json" || fail 'compose does not accept its variables'
COMPOSE_PROFILES=sharded configuration >"$work/sharded.json" || fail 'compose does not accept its profile sharded'

# Writes the health checks and the arguments of the server to files.
python3 - "$work" "$PWD" <<'PYTHON'
import json
import sys
from pathlib import Path

work, here = Path(sys.argv[1]), sys.argv[2]
default, chosen = (json.loads((work / f"{name}.json").read_text()) for name in ("default", "chosen"))


def same(what, found, expected):
    if found != expected:
        sys.exit(f"check-compose: {what} is {found!r}, not {expected!r}")


def results(configuration):
    # Compose 1 writes source:target:mode, compose 2 a mapping.
    (volume,) = configuration["services"]["docshape"]["volumes"]
    return volume.split(":")[:2] if isinstance(volume, str) else [volume["source"], volume["target"]]


def limits(service):
    return float(service.get("cpus") or 0), service.get("cpuset") or ""


for configuration, tag, cache, users, folder, of_mongo, of_docshape in (
    (default, "8.0", "1", "1000:1000", "results", (0, ""), (0, "")),
    (chosen, "7.0", "0.25", "7:8", f"{here}/here", (2, "0,1"), (1.5, "2")),
):
    mongo, docshape = (configuration["services"][name] for name in ("mongo", "docshape"))
    same("the server's image", mongo["image"], f"mongo:{tag}")
    same("its volume", configuration["volumes"]["data"]["name"], f"docshape-data-{tag}")
    same("its cache", mongo["command"][-2:], ["--wiredTigerCacheSizeGB", cache])
    same("its processors", limits(mongo), of_mongo)
    same("docshape's processors", limits(docshape), of_docshape)
    same("docshape's user", docshape["user"], users)
    same("the results' folder", results(configuration), [folder, "/docshape/results"])
    same("what docshape waits for", docshape["depends_on"]["mongo"]["condition"], "service_healthy")
    host = docshape["environment"]["MONGODB_URI"].removeprefix("mongodb://").split("/")[0]
    same("docshape's server", host, f"{mongo['hostname']}:27017")

kind, check = chosen["services"]["mongo"]["healthcheck"]["test"]
same("the health check's kind", kind, "CMD-SHELL")
# Compose escapes a dollar sign as two.
(work / "health").write_text(check.replace("$$", "$"))
(work / "arguments").write_text("\n".join(chosen["services"]["mongo"]["command"]) + "\n")

sharded = json.loads((work / "sharded.json").read_text())["services"]
for name, role in ("config", "--configsvr"), ("shard1", "--shardsvr"), ("shard2", "--shardsvr"):
    member = sharded[name]
    same(f"the command of {name}", member["command"][:6], ["mongod", role, "--replSet", name, "--port", "27017"])
    same(f"the host of {name}", member["hostname"], name)
    same(f"the health check of {name}", member["healthcheck"]["test"], chosen["services"]["mongo"]["healthcheck"]["test"])
mongos = sharded["mongos"]
same("the command of mongos", mongos["command"][:3], ["mongos", "--configdb", "config/config:27017"])
same("what mongos waits for", sorted(mongos["depends_on"]), ["config", "shard1", "shard2"])
same("the cluster's address", sharded["docshape-sharded"]["environment"]["MONGODB_URI"], "mongodb://mongos:27017/")
same("what docshape-sharded waits for", sharded["docshape-sharded"]["depends_on"]["mongos"]["condition"], "service_healthy")
(work / "shards").write_text(mongos["healthcheck"]["test"][1].replace("$$", "$"))
PYTHON

if command -v shellcheck >/dev/null; then
    shellcheck --shell=sh "$work/health" "$work/shards" || fail 'shellcheck finds problems in a health check'
fi
# The check of the router runs mongosh once, and not again while its mark exists.
mkdir "$work/router"
printf '#!/bin/sh\nprintf "%%s\\n" "$@" >>"%s/router/asked"\n' "$work" >"$work/router/mongosh"
chmod +x "$work/router/mongosh"
for _ in first again; do TMPDIR=$work/router PATH=$work/router:$PATH sh -c "$(<"$work/shards")" || fail 'the check of mongos fails'; done
[[ $(grep -c addShard "$work/router/asked") == 1 ]] || fail 'the check of mongos does not add the shards once'

homes=("${XDG_DATA_HOME:-$HOME/.local/share}"/docshape/mongod/*/mongod)
mongod=$given_mongod
[[ -n $mongod ]] || { [[ -x ${homes[0]} ]] && mongod=${homes[0]}; } || mongod=$(command -v mongod) ||
    skip 'the health check, as there is no mongod (scripts/install-mongod.sh)'
mongosh=$given_mongosh
[[ -n $mongosh ]] || mongosh=$(command -v mongosh) || skip 'the health check, as there is no mongosh (DOCSHAPE_MONGOSH)'

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir "$work/bin" "$work/data"
# The health check uses the default port, where another server may listen: redirect it.
printf '#!/bin/sh\nexec "%s" --port %s "$@"\n' "$mongosh" "$port" >"$work/bin/mongosh"
chmod +x "$work/bin/mongosh"
health() { TMPDIR=$work PATH=$work/bin:$PATH timeout 30 sh -c "$(<"$work/health")"; }

mapfile -t arguments <"$work/arguments"
[[ ${arguments[0]} == mongod ]] || fail "expected the server's command to start with mongod, found ${arguments[0]}"
"$mongod" "${arguments[@]:1}" --bind_ip 127.0.0.1 --port "$port" --dbpath "$work/data" >"$work/log" &
server=$!
deadline=$((SECONDS + 60))
until health &>"$work/health.log"; do
    kill -0 "$server" 2>/dev/null || { tail -n 3 "$work/log" >&2; fail 'mongod does not start'; }
    ((SECONDS < deadline)) || { cat "$work/health.log" >&2; fail 'the server does not become healthy'; }
    sleep 0.5
done
found=$("$work/bin/mongosh" --quiet --norc --eval 'const h = db.hello(); print(h.setName, h.isWritablePrimary, h.hosts.length)')
[[ $found == 'docshape true 1' ]] || fail "expected replica set docshape with a primary and 1 member, found: $found"

# Again: cheap while the mark exists, harmless when it is gone, and unhealthy without a server.
mark=$work/docshape-primary
[[ -e $mark ]] || fail 'the health check leaves no mark'
mv "$work/bin/mongosh" "$work/shell"
printf '#!/bin/sh\nexit 1\n' >"$work/bin/mongosh"
chmod +x "$work/bin/mongosh"
health || fail 'the health check starts mongosh again on a healthy server'
mv "$work/shell" "$work/bin/mongosh"
rm -- "$mark"
health >/dev/null || fail 'a server with an initiated replica set does not become healthy'
stop
rm -- "$mark"
if health &>/dev/null; then fail 'a stopped server counts as healthy'; fi
printf 'check-compose: all checks passed\n'
