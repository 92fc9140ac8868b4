#!/usr/bin/python3
"""Puts CUDA 13's compiler and libraries and cuDNN 9 together in the user's cache, without root: from the Python packages
that python-packages.txt pins with their hashes. For machines without a CUDA toolkit; CMake finds the folder by itself.

usage: cuda_toolkit.py            makes the toolkit unless it is there, and prints its folder
       cuda_toolkit.py --where    prints the folder; exit 1 when the toolkit is not there yet

Exit 4 when it cannot be made here. The packages' licences are NVIDIA's; they are kept in the folder licences/.
"""
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED_BYTES = 3_400_000_000  # while it is being made: the packages and what they unpack to
LICENCE = re.compile(r"[^/]+\.dist-info/(?:licenses/)?(LICENSE|License)[^/]*$")


class Unavailable(Exception):
    """Why there can be no toolkit here, in one sentence that says what to do."""


def pinned_group(prefix):
    """The name of the group of python-packages.txt that begins so, and its lines."""
    name, lines = None, []
    for line in (ROOT / "python-packages.txt").read_text(encoding="utf-8").splitlines():
        if header := re.fullmatch(r"\[(.+)\]", line):
            if name:
                break
            name = header.group(1) if header.group(1).startswith(prefix) else None
        elif name and line and not line.startswith("#"):
            lines.append(line)
    return name, lines


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME") or Path.home(), ".cache")
    return Path(base) / "hone"


def python_with_pip():
    for python in (sys.executable, shutil.which("python3"), "/usr/bin/python3"):
        if python and subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode == 0:
            return python
    raise Unavailable("no python3 here has pip: install it (Debian's package python3-pip), then try again")


def check_machine(cache):
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise Unavailable(f"the packages are for Linux on x86-64, and this is {platform.system()} on {platform.machine()}: "
                          "install CUDA 13 and cuDNN 9 as NVIDIA describes, and set CUDA_HOME")
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"{cache} cannot be made ({error.strerror}): set XDG_CACHE_HOME to a folder that can be written") from error
    if (free := shutil.disk_usage(cache).free) < NEEDED_BYTES:
        raise Unavailable(f"{cache} has {free / 1e9:.1f} GB free and {NEEDED_BYTES / 1e9:.1f} are needed: make room, or set "
                          "XDG_CACHE_HOME to a folder on a larger disk")


def download(lines, folder):
    requirements = folder / "requirements.txt"
    requirements.write_text("\n".join(lines) + "\n", encoding="utf-8")
    packages = folder / "packages"
    command = [python_with_pip(), "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps",
               "--only-binary=:all:", "--require-hashes", "--dest", str(packages), "--requirement", str(requirements)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if line.strip()]
        raise Unavailable("the packages of CUDA could not be downloaded: " + (errors[-1] if errors else "pip says no reason"))
    return sorted(packages.glob("*.whl"))


def unpack(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if LICENCE.match(name):
                target = folder / "licences" / (name.split("-")[0] + ".txt")
                target.parent.mkdir(exist_ok=True)
                target.write_bytes(archive.read(name))
            elif ".dist-info/" not in name:
                archive.extract(name, folder)


def arrange(folder):
    """The packages' folders become a toolkit as CMake expects one."""
    toolkit = folder / "nvidia" / "cu13"
    for part in ("include", "lib"):
        for path in (folder / "nvidia" / "cudnn" / part).iterdir():
            shutil.move(path, toolkit / part / path.name)
    for library in list((toolkit / "lib").glob("*.so.*")):
        link = library.with_name(library.name.split(".so.")[0] + ".so")
        if not link.exists():
            link.symlink_to(library.name)
    # CMake 3.25's FindCUDAToolkit asks for the NVTX library of older toolkits.
    (toolkit / "lib" / "libnvToolsExt.so").symlink_to("libnvtx3interop.so.1")
    (toolkit / "lib" / "stubs").mkdir()
    (toolkit / "lib64").symlink_to("lib")
    for tools in ("bin", "nvvm/bin"):
        for path in (toolkit / tools).iterdir():
            if path.is_file():
                path.chmod(0o755)  # unzipping loses the bit
    if (folder / "licences").is_dir():
        shutil.move(folder / "licences", toolkit / "licences")
    return toolkit


def make(target, lines):
    """Everything happens in a folder beside the target, which then gets its name: nobody sees half a toolkit."""
    check_machine(target.parent)
    with tempfile.TemporaryDirectory(prefix=".cuda-", dir=target.parent) as work:
        folder = Path(work)
        print(f"fetching CUDA 13 and cuDNN 9 ({len(lines)} packages, 1.1 GB) into {target}", file=sys.stderr)
        for wheel in download(lines, folder):
            unpack(wheel, folder)
            wheel.unlink()
        toolkit = arrange(folder)
        try:
            toolkit.rename(target)
        except OSError:
            if not target.is_dir():  # else another process was faster
                raise


def main():
    arguments = sys.argv[1:]
    if arguments not in ([], ["--where"]):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    name, lines = pinned_group("cuda-")
    target = cache_folder() / name
    there = (target / "bin" / "nvcc").is_file()
    if not arguments and not there:
        try:
            make(target, lines)
        except Unavailable as reason:
            print(f"cuda_toolkit.py: {reason}", file=sys.stderr)
            return 4
        except OSError as error:
            print(f"cuda_toolkit.py: {error.filename or target}: {error.strerror}", file=sys.stderr)
            return 4
        there = True
    print(target)
    return 0 if there else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
