"""Attacks on TorchScript archives, which are zip files: each is refused with one sentence and exit code 3, before
libtorch sees it, without a crash, a large allocation or a new file.

usage: archive_test.py HONE HAS_TORCH_PLUGIN [MEMORY_FACTOR]    the factor is for sanitizers, whose memory counts
"""
import io
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib

import numpy as np

BAD_INPUT = 3
PEAK_BYTES = (256 << 20) * int(sys.argv[3] if len(sys.argv) > 3 else 1)
NOT_ONE = "this is not a TorchScript archive (torch.jit.save makes one)"
SOUND = "is a TorchScript archive, which cannot be built into an engine"
TRACE = """
import sys, torch
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
torch.jit.trace(net, torch.zeros(1, 4)).save(sys.argv[1])
"""


def archive(*more, pickle=b"\x80\x02}."):
    """What torch.jit.save writes, as far as zip is concerned: stored records, compressed code."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name, data in (("net/data.pkl", pickle), ("net/data/0", bytes(range(64))), ("net/version", b"3\n"), *more):
            file.writestr(name, data)
        file.writestr("net/code/net.py", "def forward(self, x): return x\n" * 20, zipfile.ZIP_DEFLATED)
    return bytearray(content.getvalue())


def patched(offset, layout, value, at=b"PK\1\2", content=None):
    """The archive with one field of a header changed: of the first that begins with `at`."""
    result = content or archive()
    struct.pack_into(layout, result, result.index(at) + offset, value)
    return result


def long_archive(**fields):
    """With the end records of zip64, as libtorch writes them."""
    content = archive()
    end = content.rindex(b"PK\5\6")
    count, size, begin = struct.unpack_from("<HII", content, end + 10)
    long_count, long_begin = fields.get("count", count), fields.get("begin", begin)
    record = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, long_count, long_count, size, long_begin)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, fields.get("record", end), 1)
    return content[:end] + record + locator + content[end:]


def bomb(unpacked):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = b"".join([packer.compress(bytes(1 << 20)) for _ in range(unpacked >> 20)] + [packer.flush()])
    content = archive(("net/code/bomb.py", data))
    for signature, method, size in (b"PK\3\4", 8, 22), (b"PK\1\2", 10, 24):
        at = [i for i in range(len(content)) if content.startswith(signature, i)][3]
        struct.pack_into("<H", content, at + method, zipfile.ZIP_DEFLATED)
        struct.pack_into("<I", content, at + size, unpacked)
    return content


def overlapping(count):
    """Many directory entries of one record (the bombs of David Fifield, 2019)."""
    content = archive(("net/data/1", bytes(1 << 20)))
    end = content.rindex(b"PK\5\6")
    entries = [i for i in range(end) if content.startswith(b"PK\1\2", i)]
    big = content[entries[3]:entries[4]]
    tail = content[end:]
    struct.pack_into("<HH", tail, 8, len(entries) + count, len(entries) + count)
    return content[:end] + big * count + tail


def attacks():
    sound = archive()
    for cut in sorted({*range(0, 64), *range(64, len(sound), 37), *range(len(sound) - 64, len(sound))}):
        yield sound[:cut], NOT_ONE
    yield archive(("../../evil", b"x")), "its record '../../evil' has a name that leads out of the archive"
    yield archive(("/etc/passwd", b"x")), "its record '/etc/passwd' has a name"
    yield archive(("net\\..\\evil", b"x")), "has a name that leads out of the archive"
    yield archive(("net/..", b"x")), "has a name that leads out of the archive"
    for size in (2**32 - 1, 2**31, 2**20):
        yield patched(24, "<I", size), NOT_ONE
        yield patched(20, "<I", size), NOT_ONE
    yield patched(16, "<I", 0), "zip member 'net/data.pkl' has a wrong checksum"
    yield patched(8, "<H", 1), "is encrypted"
    yield patched(10, "<H", 12), "has compression method 12"
    yield patched(42, "<I", 2**31), "the zip archive is truncated"
    yield patched(28, "<H", 0xffff), "the zip archive is truncated"
    yield patched(10, "<H", 0xfffe, b"PK\5\6"), "the zip archive's directory is damaged"
    yield patched(16, "<I", 2**31, b"PK\5\6"), "the zip archive is truncated"
    yield long_archive(count=2**63), "the zip archive's end records disagree"
    yield long_archive(begin=2**64 - 1), "the zip archive's end records disagree"
    yield long_archive(record=2**64 - 8), "the zip archive is truncated"
    yield patched(16, "<I", 2**32 - 1, b"PK\5\6", long_archive(begin=2**64 - 1)), "the zip archive is truncated"
    yield bomb(256 << 20), "would unpack from "
    yield overlapping(200), "unpacks to more than the limit"
    flipped = archive()
    flipped[flipped.index(bytes(range(64))) + 5] ^= 1
    yield flipped, "zip member 'net/data/0' has a wrong checksum"
    with io.BytesIO() as empty:
        zipfile.ZipFile(empty, "w").close()
        yield bytearray(empty.getvalue()), NOT_ONE
    yield bytearray(archive().replace(b"data.pkl", b"data.pkx")), "it has no record data.pkl"


def ending(folder, *command):
    with subprocess.Popen(list(map(str, command)), cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        output, error = process.stdout.read(), process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, output, error, usage.ru_maxrss * 1024


def refuse(hone, folder, content, part):
    (folder / "net.pt").write_bytes(content)
    code, _, error, peak = ending(folder, hone, "build", "net.pt", "-o", "e.hone")
    assert code == BAD_INPUT and part in error, f"{code}: {error}: expected {part}"
    assert error.startswith("hone: net.pt") and error.count("\n") == 1, error
    assert peak < PEAK_BYTES, f"{error}: {peak} bytes"
    assert [file.name for file in folder.iterdir()] == ["net.pt"], error


def check_with_libtorch(hone, folder):
    """A real archive runs; a damaged one is a sentence, or a row of `bench` that fails."""
    if subprocess.run(["/usr/bin/python3", "-c", TRACE, folder / "net.pt"], capture_output=True, check=False).returncode:
        print("SKIPPED: python3-torch is not installed")
        return
    np.save(folder / "x.npy", np.ones((1, 4), np.float32))
    run = [hone, "run", "net.pt", "--backend", "torchscript", "--input", "x.npy"]
    code, _, error, _ = ending(folder, *run)
    assert code == 0, error
    sound = (folder / "net.pt").read_bytes()
    bench = [hone, "bench", "net.pt", "--backends", "torchscript", "--precisions", "fp32", "--batches", 1, "--duration",
             0.1, "--shapes", "x:1x4"]
    for cut in range(0, len(sound), len(sound) // 12):
        (folder / "net.pt").write_bytes(sound[:cut])
        code, _, error, _ = ending(folder, *run)
        assert code == BAD_INPUT and NOT_ONE in error and error.count("\n") == 1, f"{cut}: {code}: {error}"
    code, output, error, _ = ending(folder, *bench)
    assert code in (BAD_INPUT, 4) and NOT_ONE in output + error and error.count("\n") == 1, f"{code}: {output}{error}"


def main():
    hone, has_torch = os.path.abspath(sys.argv[1]), sys.argv[2] == "1"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        refuse(hone, folder, archive(), SOUND)
        refuse(hone, folder, long_archive(), SOUND)
        for content, part in attacks():
            refuse(hone, folder, content, part)
        if has_torch:
            check_with_libtorch(hone, folder)


if __name__ == "__main__":
    main()
