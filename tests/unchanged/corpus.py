"""A folder of public Tornado programs beside the repository, if there is one.

`corpus.py` in it runs each on stock Tornado and with the loop swapped, and compares all
answers. Its programs listen on ports of their own.
"""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

from tests.unchanged.running import inherited_environment

__all__ = ["CORPUS", "PROGRAMS", "compare", "missing", "port_of"]

CORPUS = Path(__file__).parents[3] / "shared" / "corpus" / "corpus.py"
PROGRAMS = CORPUS.parent / "programs"

PICKLED = {"p34_housing": {"sklearn"}}
"""What programs need that their own files do not import."""


_PROGRAM = """
import importlib.util, json, pathlib, pickle, re, sys, zlib
from tests import warm
path, kept = sys.argv[1], pathlib.Path(sys.argv[2])
del sys.argv[1:3]
spec = importlib.util.spec_from_file_location("corpus", path)
corpus = importlib.util.module_from_spec(spec)
spec.loader.exec_module(corpus)
corpus.subprocess.Popen = warm.Popen
# Little time that has passed, in seconds: now and then it is twice the same.
moment = re.compile(r"\\b(\\d+(\\.\\d+)?e-0[567]|0\\.0\\d{8,})")
corpus.VOLATILE.append((moment, "A MOMENT"))
since = re.compile(r'(?<="relLastActive": )[\\d.e-]+')  # however long a machine takes
corpus.VOLATILE.append((since, "A MOMENT"))
run, runs = corpus.run, {}
def run_stock_once(python, program, options, env, spec):
    if options is not None:
        return run(python, program, options, env, spec)
    number = runs[program] = runs.get(program, 0) + 1
    asked = zlib.crc32(json.dumps(spec).encode())
    file = kept / f"{program.name}-{asked}-{number}"
    if not file.exists():
        answers = run_stock(python, program, env, spec, number)
        file.write_bytes(pickle.dumps(answers))
    return pickle.loads(file.read_bytes())
# Where chance decides, two runs on stock Tornado may agree; four will not.
def run_stock(python, program, env, spec, number):
    answers = run(python, program, None, env, spec)
    if number == 2 and by_chance(program):
        for _ in range(2):
            others = run(python, program, None, env, spec)
            answers = [one if one == other else ["by chance"]
                       for one, other in zip(answers, others)]
    return answers
def by_chance(program):
    return any(re.search(r"import .*\\b(random|names)\\b", path.read_text())
               for path in program.rglob("*.py"))
corpus.run = run_stock_once
sys.exit(corpus.main())
"""


def compare(kept: Path, *arguments: str) -> tuple[int, str]:
    """Run the comparison; return its exit code and what it printed.

    Args:
        kept: A folder for what stock Tornado answers, which is not asked again.
        arguments: For the comparison.
    """
    command = [sys.executable, "-c", _PROGRAM, str(CORPUS), str(kept)]
    ended = subprocess.run(
        [*command, sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=inherited_environment(),
    )
    return ended.returncode, ended.stdout


def missing(program: Path) -> set[str]:
    """Return the packages that a program needs and that are not installed."""
    own = {path.stem for path in program.rglob("*.py")}
    own |= {path.name for path in program.rglob("*") if path.is_dir()}
    needed = set(PICKLED.get(program.name, ()))
    for path in program.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                needed |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                needed.add(node.module.partition(".")[0])
    return {name for name in needed - own if importlib.util.find_spec(name) is None}


def port_of(program: Path) -> int:
    """Return the port that a program listens on."""
    port: int = json.loads((program / "requests.json").read_text())["port"]
    return port
