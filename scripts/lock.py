"""Write requirements/*.txt: the exact versions and hashes that scripts/install.sh installs.

Run in an environment that holds what is wanted, e.g. `pip install -e '.[cpu,eval,dev]' uv`:

    python scripts/lock.py

base, eval, dev and cpu are what is installed here, split by who needs it: what both eval and cpu need stands in both.
Hashes come from the package index by way of uv.
gpu is resolved from metadata alone, held to the versions of base: this machine needs no GPU.
"""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
REQUIREMENTS = ROOT / "requirements"
NOT_LOCKED = {
    "torch": "installed before: its CPU build has a local version that is not on the package index",
    "torchvision": "its build on the package index breaks the import of the CPU build of torch; text models need none",
    "torchaudio": "like torchvision",
    "torchcodec": "like torchvision",
    "vllm": "only of the GPU environment",
}


def closure(wanted: list[str]) -> set[str]:
    """Names of everything that `wanted` pulls in, as installed here."""
    found: set[str] = set()
    waiting = [Requirement(text) for text in wanted]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        extras = requirement.extras or {""}
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if name in NOT_LOCKED and name != "torch":
            continue
        key = f"{name}[{','.join(sorted(extras))}]"
        if key in found:
            continue
        found.add(key)
        for text in distribution(name).requires or ():
            needed = Requirement(text)
            environment = default_environment()
            if needed.marker is None or any(needed.marker.evaluate(environment | {"extra": e}) for e in extras | {""}):
                needed.marker = None
                waiting.append(needed)
    # What torch needs is locked; torch itself is not.
    return {key.partition("[")[0] for key in found} - set(NOT_LOCKED)


def pins(names: set[str]) -> str:
    try:
        return "".join(f"{name}=={distribution(name).version}\n" for name in sorted(names))
    except PackageNotFoundError as error:
        sys.exit(f"{error.name} is not installed here; see the top of this file")


def compile_lock(name: str, source: str, *options: str) -> None:
    target = REQUIREMENTS / f"{name}.txt"
    command = ["uv", "pip", "compile", "-", "--quiet", "--generate-hashes", "--no-header", "--no-annotate"]
    result = subprocess.run(
        [sys.executable, "-m", *command, *options], input=source, text=True, capture_output=True, check=False
    )
    if result.returncode:
        sys.exit(result.stderr)
    lines = [line for line in result.stdout.splitlines() if not re.match(r"--(extra-)?(index|find)", line)]
    target.write_text("\n".join(lines) + "\n")
    print(f"{target.relative_to(ROOT)}: {sum('==' in line for line in lines)} packages")


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    build = ["setuptools>=77"]
    base = closure(project["dependencies"] + build)
    evaluation = closure(extras["eval"]) - base
    dev = closure(extras["dev"]) - base - evaluation
    cpu = closure(extras["cpu"]) - base
    for name, names in (("base", base), ("eval", evaluation), ("dev", dev), ("cpu", cpu)):
        compile_lock(name, pins(names), "--no-deps")
    compile_lock(
        "gpu", "\n".join(extras["gpu"] + project["dependencies"]), "--constraint", str(REQUIREMENTS / "base.txt")
    )


if __name__ == "__main__":
    main()
