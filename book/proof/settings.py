"""Settings that make the numerical libraries of one machine behave as on others.

PyTorch (ATen), MKL, NumPy, OpenBLAS and oneDNN each hold code for several kinds of processor and choose by
environment variables where these are set. `qemu` runs the programs of other processors.
"""

from __future__ import annotations

import functools
import os
import platform
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from book.recording.notebooks import ASLEEP, ROOT

ATEN = ("default", "avx2", "avx512")
THREADS = (1, 2, 4)
# Of MKL_CBWR's levels, those that choose other code in this MKL: AVX runs as SSE4_2, AVX512_E1 as AVX512.
MKL = ("COMPATIBLE", "SSE4_2", "AVX2", "AVX512")
EMULATED = ("Nehalem", "Haswell")
PLAIN = "no variable set"
OLDEST = "as on a Nehalem"
COMBINED = ("ATEN_CPU_CAPABILITY", "MKL_CBWR", "OMP_NUM_THREADS")  # of which every combination is a setting
AARCH64 = ROOT / "_build" / "aarch64" / "python"  # made by book/proof/aarch64.sh

# What a reader may have set, and what must not change an output. Every setting but the plain one has it.
READERS_OWN = {
    "COLUMNS": "40",
    "D2LRNN_DATA": "no-such-folder",
    "LC_ALL": "C",
    "MPLBACKEND": "agg",
    "PYTHONHASHSEED": "7",
    "TZ": "Asia/Kathmandu",
}
MATPLOTLIBRC = "figure.figsize: 3, 2\nlines.linewidth: 5\nfont.size: 20\naxes.grid: True\n"
# Taken away first, so that a setting is what it says.
STEERING = {
    *READERS_OWN,
    *ASLEEP,
    "ATEN_CPU_CAPABILITY",
    "DNNL_MAX_CPU_ISA",
    "GOMP_CPU_AFFINITY",
    "KMP_AFFINITY",
    "KMP_BLOCKTIME",
    "MATPLOTLIBRC",
    "MKL_CBWR",
    "MKL_DYNAMIC",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_NUM_THREADS",
    "MKL_THREADING_LAYER",
    "NPY_DISABLE_CPU_FEATURES",
    "NPY_ENABLE_CPU_FEATURES",
    "OMP_DYNAMIC",
    "OMP_NUM_THREADS",
    "OMP_PROC_BIND",
    "ONEDNN_MAX_CPU_ISA",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
}


@dataclass(frozen=True)
class Setting:
    """Environment variables, and what runs Python: nothing, or an emulator with its arguments."""

    name: str
    variables: dict[str, str] = field(default_factory=dict)
    needs: str = ""  # a processor feature
    emulator: tuple[str, ...] = ()


def settings() -> list[Setting]:
    """Return all settings, the most telling first.

    The first twelve of the product of ATEN, MKL and THREADS hold every pair of values.
    """
    older = {
        "as on a Haswell": ("avx2", "AVX2", "AVX512_ICL AVX512_SPR X86_V4", "Haswell", "AVX2"),
        OLDEST: ("default", "SSE4_2", "AVX512_ICL AVX512_SPR X86_V3 X86_V4", "Nehalem", "SSE41"),
    }
    names = ("ATEN_CPU_CAPABILITY", "MKL_CBWR", "NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE")
    variables = (*names, "ONEDNN_MAX_CPU_ISA")
    found = [Setting(PLAIN)]
    found += [
        Setting(name, dict(zip(variables, values, strict=True)), needs="avx2" if "avx2" in values else "")
        for name, values in older.items()
    ]
    found.append(
        Setting(
            "thread settings of a reader",
            {
                "KMP_AFFINITY": "disabled",
                "MKL_DYNAMIC": "FALSE",
                "MKL_NUM_THREADS": "3",
                "OMP_NUM_THREADS": "2",
                "OPENBLAS_CORETYPE": "SkylakeX",
                "OPENBLAS_NUM_THREADS": "1",
            },
            needs="avx512f",
        )
    )
    # MKL as it chooses by itself here, and as on processors without the newer instructions. The combinations
    # set MKL_CBWR, which chooses too, but makes MKL's results hang less on threads and on places in memory.
    found += [
        Setting(f"no MKL_CBWR, {_threads(number)}", {"OMP_NUM_THREADS": str(number)}) for number in THREADS
    ]
    found += [
        Setting(f"no MKL_CBWR, MKL up to {level}", {"MKL_ENABLE_INSTRUCTIONS": level}, needs=needs)
        for level, needs in (("SSE4_2", ""), ("AVX2", "avx2"))
    ]
    product = [
        (i + k + t, aten, mkl, threads)
        for i, aten in enumerate(ATEN)
        for k, mkl in enumerate(MKL)
        for t, threads in enumerate(THREADS)
    ]
    for _, aten, mkl, threads in sorted(product, key=lambda row: row[0] % len(THREADS)):
        levels = {aten, mkl.lower()}
        found.append(
            Setting(
                f"ATen {aten}, MKL {mkl}, {_threads(threads)}",
                dict(zip(COMBINED, (aten, mkl, str(threads)), strict=True)),
                needs="avx512f" if "avx512" in levels else "avx2" if "avx2" in levels else "",
            )
        )
    return found


def wanted() -> list[Setting]:
    """Return the settings that each chapter must have been run under, on one processor.

    They are the plain one, the twelve that hold every pair of values, and the one of a processor without AVX.
    """
    found = settings()
    combined = [setting for setting in found if setting.variables.keys() == set(COMBINED)]
    named = [setting for setting in found if setting.name in (PLAIN, OLDEST)]
    return named + combined[: len(ATEN) * len(MKL)]


def _threads(number: int) -> str:
    return f"{number} thread{'s' * (number > 1)}"


def emulated() -> list[Setting]:
    """Return the processors that qemu emulates, too slowly for more than the short training."""
    x86 = [
        Setting(f"{cpu}, emulated", emulator=("qemu-x86_64-static", "-cpu", cpu, sys.executable))
        for cpu in EMULATED
    ]
    return [*x86, Setting("aarch64, emulated", emulator=(str(AARCH64),))]


def missing(setting: Setting) -> str:
    """Say what this machine lacks for a setting; nothing if it can be run."""
    if setting.needs and setting.needs not in cpu()[1]:
        return f"this processor has no {setting.needs}"
    if setting.emulator and not shutil.which(setting.emulator[0]):
        return (
            "book/proof/aarch64.sh was not run"
            if AARCH64.name in setting.emulator[0]
            else "no qemu-user-static"
        )
    return ""


def own(setting: Setting) -> dict[str, str]:
    """Return the variables that a setting has, but for the path of Matplotlib's configuration."""
    return {} if setting.name == PLAIN else {**READERS_OWN, **ASLEEP, **setting.variables}


def environment(setting: Setting, matplotlibrc: Path) -> dict[str, str]:
    """Return the environment to run a setting in; the plain one has no `matplotlibrc`."""
    inherited = {name: value for name, value in os.environ.items() if name not in STEERING}
    configured = {} if setting.name == PLAIN else {"MATPLOTLIBRC": str(matplotlibrc)}
    return {**inherited, **configured, **own(setting)}


@functools.cache
def cpu() -> tuple[str, frozenset[str]]:
    """Return the processor's name and features; no features where the system does not list them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine(), frozenset()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    return facts.get("model name", platform.machine()), frozenset(facts.get("flags", "").split())
