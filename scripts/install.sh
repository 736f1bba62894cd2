#!/bin/sh
# Make the environment hold what is asked for, from locked versions. Usage: install.sh PYTHON VENV cpu|gpu|none [eval] [dev]
# Safe to run again: finished parts leave a stamp of the files they came from, an interrupted one is done anew.
set -eu

python=$1 venv=$2 engine=$3
shift 3
extras=" $* "
here=$(dirname "$0")/..
torch_index=https://download.pytorch.org/whl/cpu

say() { printf '%s\n' "booking-assistant: $*" >&2; }

stamp() { cat "$@" | sha256sum | cut -c1-16; }

# install_once NAME STAMP COMMAND...: run the command unless it has succeeded with the same stamp.
install_once() {
    name=$1 wanted=$2
    shift 2
    [ "$(cat "$venv/.installed-$name" 2>/dev/null)" = "$wanted" ] && return 0
    say "installing $name into $venv"
    "$@" || { say "installing $name failed; see above, then start again to resume"; exit 1; }
    printf %s "$wanted" >"$venv/.installed-$name"
}

locked() { "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r "$1"; }

# The CPU build of torch carries a local version that is not on the Python package index. It may be known to pip already
# (a mirror, a folder of wheels); otherwise it comes from PyTorch's own index.
torch_cpu() {
    version=$(cat "$here/requirements/torch-cpu.version")
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps "torch==$version" 2>/dev/null ||
        "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --index-url "$torch_index" "torch==$version"
}

this_package() {
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e "$here"
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    { say "Python 3.11 or newer is needed; set PYTHON=/path/to/python3.11"; exit 1; }
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || "$python" -m venv --clear "$venv" ||
    { say "cannot create $venv; install the venv module of $python"; exit 1; }

requirements=$here/requirements
install_once base "$(stamp "$requirements/base.txt")" locked "$requirements/base.txt"
for extra in eval dev; do
    case $extras in
    *" $extra "*) install_once $extra "$(stamp "$requirements/$extra.txt")" locked "$requirements/$extra.txt" ;;
    esac
done
case $engine in
cpu)
    rm -f "$venv/.installed-gpu" # both bring a package named vllm
    install_once torch "$(stamp "$requirements/torch-cpu.version")" torch_cpu
    install_once cpu "$(stamp "$requirements/cpu.txt")" locked "$requirements/cpu.txt"
    ;;
gpu)
    rm -f "$venv/.installed-cpu" "$venv/.installed-torch"
    install_once gpu "$(stamp "$requirements/gpu.txt")" locked "$requirements/gpu.txt"
    ;;
none) ;;
*) say "unknown engine $engine"; exit 1 ;;
esac
install_once package "$(stamp "$here/pyproject.toml" "$here/app/__init__.py")" this_package
