"""`hone detect` on videos from outside: frames in order, times, containers, damage, interruption, full disks.

The clips are written by hone itself, from pictures that carry their number, and then damaged or patched.

usage: video_test.py HONE
"""
import json
import os
import pathlib
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import wave

import numpy as np
from PIL import Image

from vision import BAD_INPUT, ENVIRONMENT, THRESHOLD, USAGE, Runner, constant_model, pixel_model

WIDTH, HEIGHT, FRAMES = 128, 96, 40
CELLS = [(8 + 16 * k, 80) for k in range(8)]
COLOURS = {(24, 24): (200, 40, 40), (72, 24): (40, 180, 60), (104, 24): (50, 70, 210)}


def numbered(number, width=WIDTH, height=HEIGHT):
    """Three patches of colour, and at the bottom eight cells that show the number in binary."""
    pixels = np.full((height, width, 3), 90, np.uint8)
    for (x, y), colour in COLOURS.items():
        pixels[y - 16:y + 16, x - 16:x + 16] = colour
    for k, (x, y) in enumerate(CELLS):
        pixels[y - 16:y + 16, x - 8:x + 8] = 235 if number >> k & 1 else 20
    return Image.fromarray(pixels)


class Videos:
    def __init__(self, runner):
        self.runner = runner
        self.folder = runner.folder / "frames"
        self.folder.mkdir()
        for number in range(FRAMES):
            numbered(number).save(self.folder / f"frame_{number + 7}.png")
        self.pixels = pixel_model(runner.folder / "pixels.onnx", WIDTH, HEIGHT, CELLS + list(COLOURS))
        self.nothing = constant_model(runner.folder / "nothing.onnx", [1, 3, HEIGHT, WIDTH],
                                      {"output0": np.zeros((1, 300, 6), np.float32)}, {"end2end": "True"})

    def write(self, name, *arguments, source=None):
        path = self.runner.folder / name
        ending = self.runner.good("detect", self.nothing, source or self.folder, "-o", path, *arguments)
        assert ending.stdout.startswith("40 frames") or source, ending.stdout
        return path

    def read(self, path, *arguments, model=None):
        ending = self.runner.good("detect", model or self.pixels, path, "--threshold", "0", "--fit", "stretch",
                                  *arguments)
        return [json.loads(line) for line in ending.stdout.splitlines()], ending.stderr

    @staticmethod
    def values(line):
        values = np.zeros(3 * (len(CELLS) + len(COLOURS)))
        for found in line["detections"]:
            values[found["class"]] = 255 * found["score"]
        return values.reshape(-1, 3)

    def numbers(self, lines):
        return [sum(1 << k for k in range(8) if self.values(line)[k].mean() > 127) for line in lines]


def check_containers(videos):
    """Every frame once, in order, with its colours, whatever the container and codec."""
    for name in ("out.mp4", "out.mkv", "out.avi", "out.webm", "out.ts", "out.mov"):
        lines, _ = videos.read(videos.write(name, "--crf", "12"))
        assert videos.numbers(lines) == list(range(FRAMES)), f"{name}: {videos.numbers(lines)}"
        times = np.diff([line["pts_ms"] for line in lines])
        assert np.abs(times - 40).max() < 1.01, f"{name}: {times}"
        assert abs(lines[0]["pts_ms"]) < 1, f"{name}: {lines[0]['pts_ms']}"
        assert "file" not in lines[0], f"{name}: frames of a video have no file of their own"
        found = videos.values(lines[5])[len(CELLS):]
        assert np.abs(found - list(COLOURS.values())).max() < 10, f"{name}: {found}"


def check_browser(videos, plain):
    """What browsers want of a file (opencv#23847): the index before the pictures, H.264 in High profile, 4:2:0 with 8 bits,
    whatever the source had."""
    content = plain.read_bytes()
    assert content.index(b"moov") < content.index(b"mdat"), "a browser plays before it has the whole file"
    assert content[4:8] == b"ftyp" and b"isom" in content[8:32], content[:32]
    record = content[content.index(b"avcC") + 4:]
    assert record[:2] == bytes([1, 100]), f"profile {record[1]}"
    at = 6
    assert record[5] & 31 == 1, "one sequence parameter set"
    at += 2 + struct.unpack(">H", record[at:at + 2])[0]
    assert record[at] == 1, "one picture parameter set"
    at += 3 + struct.unpack(">H", record[at + 1:at + 3])[0]
    chroma, luma_bits, chroma_bits = record[at] & 3, record[at + 1] & 7, record[at + 2] & 7
    assert (chroma, luma_bits, chroma_bits) == (1, 0, 0), (chroma, luma_bits, chroma_bits)
    # mp4v, which browsers do not play, comes only where it is asked for.
    old = videos.write("old.mp4", "--encoder", "mpeg4").read_bytes()
    assert b"mp4v" in old and b"avc1" not in old


def check_gif(videos):
    """Of a GIF among images the first picture counts, which is said once; one by itself is a video."""
    folder = videos.runner.folder / "gifs"
    folder.mkdir()
    for number in (1, 4):
        numbered(number).save(folder / f"{number}.png")
    for number in (2, 3):
        numbered(number).save(folder / f"{number}.gif", save_all=True, append_images=[numbered(60), numbered(61)])
    lines, said = videos.read(folder)
    assert videos.numbers(lines) == [1, 2, 3, 4], videos.numbers(lines)
    assert said.count("only the first picture of each GIF file is used") == 1, said
    lines, said = videos.read(folder / "2.gif")
    assert videos.numbers(lines) == [2, 60, 61] and "GIF" not in said, (lines, said)


def check_size_change(videos):
    """Two streams in one file: each frame has its own size, and none has the other's rows."""
    small = videos.runner.folder / "small"
    small.mkdir()
    for number in range(4):
        numbered(number).resize((64, 48)).save(small / f"{number}.png")
    joined = videos.runner.folder / "joined.ts"
    joined.write_bytes(videos.write("whole.ts").read_bytes() +
                       videos.write("small.ts", source=small).read_bytes())
    lines, said = videos.read(joined)
    sizes = [(line["width"], line["height"]) for line in lines]
    large = sizes.count((128, 96))
    # The frame before the seam may be cut off by it.
    assert large >= FRAMES - 1 and (large == FRAMES or "warning:" in said), (large, said)
    assert sizes == [(128, 96)] * large + [(64, 48)] * 4, sizes
    assert videos.numbers(lines) == [*range(large), *range(4)], videos.numbers(lines)
    times = [line["pts_ms"] for line in lines]
    assert times == sorted(set(times)), times


def check_sizes(videos):
    """Odd sizes are padded by a pixel, and boxes lie in the source's own pixels."""
    folder = videos.runner.folder / "odd"
    folder.mkdir()
    for number in range(3):
        numbered(number).resize((101, 57)).save(folder / f"{number}.png")
    path = videos.write("odd.mp4", source=folder)
    lines, _ = videos.read(path)
    assert {(line["width"], line["height"]) for line in lines} == {(102, 58)}, lines[0]
    numbered(3).resize((64, 48)).save(folder / "3.png")
    ending = videos.runner.good("detect", videos.nothing, folder, "-o", videos.runner.folder / "changing.mp4")
    assert "the file keeps the first size" in ending.stderr, ending.stderr


def check_drawing(videos):
    output = np.zeros((1, 300, 6), np.float32)
    output[0, 0] = [40, 40, 90, 70, 0.9, 0]
    model = constant_model(videos.runner.folder / "box.onnx", [1, 3, HEIGHT, WIDTH], {"output0": output},
                           {"end2end": "True", "names": "['thing']"})
    drawn = videos.runner.folder / "drawn.mp4"
    results = videos.runner.folder / "drawn.jsonl"
    videos.runner.good("detect", model, videos.folder, "-o", drawn, "-o", results, "--crf", "8")
    assert len(results.read_text().splitlines()) == FRAMES
    border = pixel_model(videos.runner.folder / "border.onnx", WIDTH, HEIGHT, [(41, 60), (65, 55)])
    lines, _ = videos.read(drawn, model=border)
    values = np.array([f["score"] * 255 for f in sorted(lines[9]["detections"], key=lambda f: f["class"])])
    assert np.abs(values[:3] - (230, 60, 60)).max() < 40, f"the border is of the class's colour: {values}"
    assert np.abs(values[3:] - 90).max() < 12, f"the box is open: {values}"


def patched(source, name, change):
    content = bytearray(source.read_bytes())
    change(content)
    path = source.parent / name
    path.write_bytes(content)
    return path


def check_rotation(videos, plain):
    """A quarter clockwise, as the display matrix of the track says; boxes belong to the turned picture."""
    def turn(content):
        at = content.index(b"tkhd") + 4 + 4 + 20 + 16
        content[at:at + 36] = struct.pack(">9i", 0, 1 << 16, 0, -(1 << 16), 0, 0, HEIGHT << 16, 0, 1 << 30)
    turned = patched(plain, "turned.mp4", turn)
    points = [(HEIGHT - 1 - y, x) for x, y in CELLS + list(COLOURS)]
    model = pixel_model(videos.runner.folder / "turned.onnx", HEIGHT, WIDTH, points)
    lines, _ = videos.read(turned, model=model)
    assert (lines[0]["width"], lines[0]["height"]) == (HEIGHT, WIDTH), lines[0]
    assert videos.numbers(lines) == list(range(FRAMES)), videos.numbers(lines)


def check_mirror_of_the_codec(videos, plain):
    """H.264's own display orientation comes with the first picture, and holds for those after it."""
    content = plain.read_bytes()
    record = content.index(b"avcC") + 4
    units = []
    at = record + 6
    for _ in range(2):  # a sequence's parameters, and a picture's behind their number
        size = int.from_bytes(content[at:at + 2], "big")
        units.append(content[at + 2:at + 2 + size])
        at += 2 + size + 1
    at = content.index(b"mdat") + 4
    while at + 4 < len(content):
        size = int.from_bytes(content[at:at + 4], "big")
        unit = content[at + 4:at + 4 + size]
        if unit[0] & 31 == 5 and len(units) < 5:
            # Message 47 of 3 bytes: not cancelled, mirrored, not upside down, no angle, until another comes.
            units.append(bytes([6, 47, 3, 0x40, 0x00, 0x09, 0x80]))
        units.append(unit)
        at += 4 + size
    stream = videos.runner.folder / "mirrored.h264"
    stream.write_bytes(b"".join(b"\0\0\0\1" + unit for unit in units))
    points = [(WIDTH - 1 - x, y) for x, y in CELLS + list(COLOURS)]
    lines, _ = videos.read(stream, model=pixel_model(videos.runner.folder / "mirrored.onnx", WIDTH, HEIGHT, points))
    assert videos.numbers(lines) == list(range(FRAMES)), videos.numbers(lines)


def check_times(videos):
    """A GIF's frames last as long as they say, and are read once though it loops."""
    path = videos.runner.folder / "moving.gif"
    durations = [100, 50, 200, 30, 70]
    pictures = [numbered(number).convert("P", palette=Image.ADAPTIVE) for number in range(5)]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=durations, loop=0)
    lines, _ = videos.read(path)
    assert videos.numbers(lines) == list(range(5)), videos.numbers(lines)
    assert [line["pts_ms"] for line in lines] == [0, 100, 150, 350, 380], lines
    kept, _ = videos.read(videos.write("moving.mp4", source=path))
    assert np.abs(np.diff([line["pts_ms"] for line in kept]) - durations[:4]).max() <= 1, "times stay"


def check_damage(videos):
    stream = videos.write("whole.ts")
    size = stream.stat().st_size
    noise = np.random.default_rng(3).integers(0, 256, 900, np.uint8).tobytes()

    def overwrite(content):
        for share in (0.3, 0.5, 0.7):
            content[int(size * share):int(size * share) + len(noise)] = noise
    lines, said = videos.read(patched(stream, "noise.ts", overwrite))
    assert 10 < len(lines) <= FRAMES and "warning:" in said, (len(lines), said)
    strict = videos.runner.run("detect", videos.nothing, stream.parent / "noise.ts", "--strict")
    assert strict.returncode == THRESHOLD, strict

    def cut(content):
        del content[int(size * 0.6):]
    lines, said = videos.read(patched(stream, "cut.ts", cut))
    assert "warning:" in said, said
    numbers = videos.numbers(lines)
    assert 3 <= len(numbers) < FRAMES and len(set(numbers)) == len(numbers), numbers
    plain = videos.runner.folder / "out.mp4"

    def cut_samples(content):
        begin = content.index(b"mdat")
        del content[begin + (len(content) - begin) * 6 // 10:]
    lines, said = videos.read(patched(plain, "cut.mp4", cut_samples))
    assert "warning:" in said and 0 < len(lines) <= FRAMES, said


def check_damaged_containers(videos):
    """Damage that the demuxer jumps over counts as a loss, though each packet that is left is whole."""
    strict = lambda path: videos.runner.run("detect", videos.nothing, path, "--strict", "--format", "jsonl")

    def cut(content):
        del content[int(len(content) * 0.6):]

    def hole(content):
        del content[int(len(content) * 0.4):int(len(content) * 0.5)]

    def zeros(content):
        begin, end = int(len(content) * 0.4), int(len(content) * 0.5)
        content[begin:end] = bytes(end - begin)
    for name in ("out.mkv", "out.webm"):
        whole = videos.runner.folder / name
        ending = strict(whole)
        assert ending.returncode == 0 and "warning" not in ending.stderr, ending.stderr
        for change in (cut, hole, zeros):
            ending = strict(patched(whole, "damaged" + whole.suffix, change))
            # A hole in a file this short may leave nothing.
            found = len(ending.stdout.splitlines())
            wanted = (THRESHOLD, "warning:") if found > 0 else (BAD_INPUT, "no frame could be read: ")
            assert found <= FRAMES and ending.returncode == wanted[0] and wanted[1] in ending.stderr, (
                name, change.__name__, ending.stderr)
    _, said = videos.read(patched(videos.runner.folder / "out.mkv", "cut.mkv", cut))
    assert "warning: the file is damaged: File ended prematurely" in said, said
    assert "the file's header promises 1.60 s, and its last frame ends at " in said, said


def check_pipes(videos, plain):
    """Standard input and named pipes, which may stall."""
    runner = videos.runner
    stream = runner.folder / "whole.ts"
    command = ["detect", videos.pixels, "-", "--threshold", "0", "--fit", "stretch"]
    for source in (stream, plain):
        with source.open("rb") as file:
            ending = subprocess.run([runner.hone, *map(str, command)], stdin=file, capture_output=True, text=True, check=False)
        assert ending.returncode == 0, ending.stderr
        assert videos.numbers([json.loads(line) for line in ending.stdout.splitlines()]) == list(range(FRAMES)), source
    for name in ("-", "pipe:0"):
        ending = subprocess.run([runner.hone, "detect", videos.pixels, name, "--threshold", "0", "--fit", "stretch"],
                                input=stream.read_bytes(), capture_output=True, check=False)
        assert ending.returncode == 0, ending.stderr
        assert videos.numbers([json.loads(line) for line in ending.stdout.splitlines()]) == list(range(FRAMES)), name
    ending = subprocess.run([runner.hone, "detect", videos.nothing, "-"], input=b"no video" * 99, capture_output=True, check=False)
    assert ending.returncode == BAD_INPUT and b"standard input: this is no video" in ending.stderr, ending.stderr
    fifo = runner.folder / "pipe.ts"
    os.mkfifo(fifo)
    begin = time.monotonic()
    runner.bad(ENVIRONMENT, "pipe.ts: it gave no frame for 0.5 s (--timeout changes that)", "detect", videos.nothing, fifo,
               "--timeout", "0.5")
    assert time.monotonic() - begin < 20
    with subprocess.Popen([runner.hone, "detect", videos.nothing, fifo], stderr=subprocess.PIPE) as process:
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == -signal.SIGINT, process.stderr.read()
    # One that stalls in the middle is ended, and what came is there.
    with subprocess.Popen([runner.hone, "detect", videos.nothing, str(fifo), "--timeout", "2", "--format", "jsonl"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        with fifo.open("wb") as writer:
            writer.write(stream.read_bytes()[:-188 * 4])
            writer.flush()
            out, said = process.communicate(timeout=60)
    assert process.returncode == 0 and 0 < len(out.splitlines()) <= FRAMES, (process.returncode, said)
    assert "warning: the stream gave no frame for 2 s and was ended" in said, said


def check_refusals(videos):
    folder = videos.runner.folder
    refuse = lambda part, path: videos.runner.bad(BAD_INPUT, part, "detect", videos.nothing, path,
                                                  "-o", folder / "no.mp4")
    (folder / "text.mp4").write_text("this is no video at all\n" * 50)
    refuse("no video that FFmpeg knows", folder / "text.mp4")
    (folder / "void.mp4").write_bytes(b"")
    refuse("void.mp4", folder / "void.mp4")
    with wave.open(str(folder / "sound.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(bytes(8000))
    refuse("no video stream", folder / "sound.wav")
    plain = folder / "out.mp4"
    patched(plain, "unknown.mp4", lambda content: [content.__setitem__(slice(i, i + 4), b"zzzz") for i in
                                                   [content.index(b"avc1", content.index(b"stsd"))]])
    refuse("no decoder for its codec", folder / "unknown.mp4")
    assert not (folder / "no.mp4").exists()
    videos.runner.bad(USAGE, "no encoder", "detect", videos.nothing, plain, "-o", folder / "no.mp4", "--encoder", "x")
    videos.runner.bad(USAGE, "has a place in", "detect", videos.nothing, plain, "-o", folder / "no.webm",
                      "--encoder", "libx264")
    videos.runner.bad(ENVIRONMENT, "cannot open", "detect", videos.nothing, "http://127.0.0.1:9/x.mp4")


def check_full_disk(videos):
    """The limit on a file's size stands for a full disk: one sentence, nothing left."""
    out = videos.runner.folder / "full.mp4"
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
    ending = subprocess.run([videos.runner.hone, "detect", videos.nothing, videos.folder, "-o", out],
                            capture_output=True, text=True, preexec_fn=limit, check=False)
    assert ending.returncode == ENVIRONMENT and ending.stderr.count("\n") == 1, ending
    left = [path.name for path in out.parent.iterdir() if "full" in path.name or path.name.startswith(".hone")]
    assert not left, left


def check_interruption(videos, plain):
    """Ctrl-C: what was read is written, the file plays, and the program dies of the signal."""
    out = videos.runner.folder / "stopped.mp4"
    results = videos.runner.folder / "stopped.jsonl"
    # As a camera would send it, so that it is surely still running.
    program = subprocess.Popen([videos.runner.hone, "detect", videos.nothing, plain, "--realtime", "-o", out,
                                "-o", results], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    time.sleep(1.0)
    program.send_signal(signal.SIGINT)
    asked = time.monotonic()
    _, said = program.communicate(timeout=20)
    if program.returncode == 0:
        print("SKIPPED: the clip was over before the signal came")
        return
    assert program.returncode == -signal.SIGINT, (program.returncode, said)
    assert b"interrupted " in said, said
    if out.exists():
        lines, _ = videos.read(out)
        assert f"interrupted after {len(lines)} frames".encode() in said, (len(lines), said)
        count = len(results.read_text().splitlines())
        assert 0 < len(lines) < FRAMES and count == len(lines), (len(lines), count)
        assert videos.numbers(lines) == list(range(len(lines))), videos.numbers(lines)


def check_pacing(videos):
    """A frame that is due in a minute keeps nobody waiting: not Ctrl-C, and not a stage that has failed."""
    path = videos.runner.folder / "slow.gif"
    pictures = [numbered(number).convert("P", palette=Image.ADAPTIVE) for number in range(3)]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=60000, loop=0)
    results = videos.runner.folder / "slow.jsonl"
    command = [videos.runner.hone, "detect", videos.nothing, path, "--realtime", "-o", results]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    time.sleep(1.5)
    assert program.poll() is None, program.communicate()
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=20)
    assert program.returncode == -signal.SIGINT and "interrupted " in said, (program.returncode, said)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200))
    ending = subprocess.run([*command[:-1], videos.runner.folder / "slow.ts", "--encoder", "mpeg2video"],
                            capture_output=True, text=True, preexec_fn=limit, check=False, timeout=20)
    assert ending.returncode == ENVIRONMENT and ending.stderr.count("\n") == 1, ending
    # Images have no times of their own, and come 25 a second; what a busy machine has no time for is counted.
    stats = videos.runner.folder / "slow.json"
    videos.runner.good("detect", videos.nothing, videos.folder, "--realtime", "-o", results, "--stats", stats)
    told = json.loads(stats.read_text())
    assert told["frames"] + told["dropped"] == FRAMES, told
    assert told["wall_seconds"] >= (FRAMES - 1) / 25 - 0.01, told


def main():
    with tempfile.TemporaryDirectory() as folder:
        videos = Videos(Runner(sys.argv[1], pathlib.Path(folder)))
        check_containers(videos)
        plain = videos.runner.folder / "out.mp4"
        check_browser(videos, plain)
        check_gif(videos)
        check_size_change(videos)
        check_sizes(videos)
        check_drawing(videos)
        check_rotation(videos, plain)
        check_mirror_of_the_codec(videos, plain)
        check_times(videos)
        check_damage(videos)
        check_damaged_containers(videos)
        check_pipes(videos, plain)
        check_refusals(videos)
        check_full_disk(videos)
        check_interruption(videos, plain)
        check_pacing(videos)
    print("all as expected")


if __name__ == "__main__":
    main()
