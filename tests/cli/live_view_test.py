"""`hone detect --view` from outside: what browsers, slow viewers and strangers get over the loopback.

usage: live_view_test.py HONE
"""
import http.client
import io
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image

from vision import USAGE, Runner, constant_model, picture

FRAMES = 60  # at 25 a second


class Live:
    """`hone detect --view` over paced pictures."""

    def __init__(self, runner, *arguments):
        self.begun = time.monotonic()
        self.process = subprocess.Popen(
            [runner.hone, *map(str, arguments), "--view", "--port", "0", "--realtime"], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        assert line.startswith("note: frames are shown at http://127.0.0.1:"), line + self.process.stderr.read()
        self.port = int(line.rsplit(":", 1)[1].rstrip("/\n"))

    def ask(self, path, method="GET", host=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers={"Host": host} if host else {})
        return connection.getresponse()

    def end(self, code=0):
        errors = self.process.stderr.read()
        assert self.process.wait(timeout=60) == code, errors
        return errors


def pictures_of(response):
    """The pictures of a multipart body until it ends."""
    pictures = []
    while line := response.readline():
        assert line == b"--frame\r\n", line
        headers = dict(response.readline().decode().strip().split(": ") for _ in range(2))
        assert headers["Content-Type"] == "image/jpeg" and response.readline() == b"\r\n", headers
        pictures.append(Image.open(io.BytesIO(response.read(int(headers["Content-Length"])))))
        assert response.read(2) == b"\r\n"
    return pictures


def prepare(runner):
    folder = runner.folder / "frames"
    folder.mkdir()
    for number in range(FRAMES):
        picture(128, 64, seed=number / 10).save(folder / f"{number}.png")
    output = np.zeros((1, 300, 6), np.float32)
    output[0, 0] = [16, 8, 48, 24, 0.9, 0]
    return constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": output}, {"end2end": "True"}), folder


def check_pictures(runner, model, folder):
    live = Live(runner, "detect", model, folder)
    page = live.ask("/")
    assert page.status == 200 and b'<img src="/frames"' in page.read() and b"model.onnx" in live.ask("/").read()
    assert "img-src 'self'" in page.getheader("Content-Security-Policy")
    assert live.ask("/", method="POST").status == 405
    assert live.ask("/", host="evil.example").status == 421
    assert live.ask("/nothing").status == 404
    pictures = pictures_of(live.ask("/frames"))
    live.end()
    assert 2 <= len(pictures) <= FRAMES, len(pictures)
    assert {one.size for one in pictures} == {(128, 64)}
    plain = np.asarray(picture(128, 64, seed=(FRAMES - 1) / 10), np.float64)
    last = np.asarray(pictures[-1].convert("RGB"), np.float64)
    # The last frame is the last picture; its box begins at (32, 16), and the lower right of the picture has none.
    assert np.abs(last[50:, 100:] - plain[50:, 100:]).mean() < 12, "the last picture is that of the last frame"
    assert np.abs(last[40, 32] - plain[40, 32]).max() > 40, "the box is drawn"


def check_slow_viewers(runner, model, folder):
    """Viewers that never read, and one that leaves, keep nobody waiting."""
    live = Live(runner, "detect", model, folder)
    stuck = []
    for _ in range(4):
        one = socket.create_connection(("127.0.0.1", live.port))
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        one.sendall(b"GET /frames HTTP/1.1\r\nHost: localhost\r\n\r\n")
        stuck.append(one)
    gone = live.ask("/frames")
    gone.readline()
    gone.close()
    pictures = pictures_of(live.ask("/frames"))
    errors = live.end()
    assert len(pictures) >= 2 and f"{FRAMES} frames" in errors, errors
    assert time.monotonic() - live.begun < 30, "nobody is waited for at the end"
    for one in stuck:
        one.close()


def check_ends(runner, model, folder):
    """One picture is over before anybody looks; Ctrl-C ends what runs, with a viewer or without."""
    image = folder / "0.png"
    Live(runner, "detect", model, image).end()
    live = Live(runner, "detect", model, folder)
    viewer = live.ask("/frames")
    assert viewer.readline() == b"--frame\r\n"
    live.process.send_signal(signal.SIGINT)
    errors = live.process.stderr.read()
    assert live.process.wait(timeout=30) == -signal.SIGINT and "interrupted after" in errors, errors


def check_refusals(runner, model, folder):
    taken = socket.create_server(("127.0.0.1", 0))
    ending = runner.run("detect", model, folder, "--view", "--port", taken.getsockname()[1])
    assert ending.returncode == 4 and "cannot listen on 127.0.0.1" in ending.stderr, ending.stderr
    assert ending.stderr.count("\n") == 1, ending.stderr
    runner.bad(USAGE, "--view", "detect", model, folder, "--port", "8000")
    runner.bad(USAGE, "--view", "detect", model, folder, "--view", "--backends", "hone,reference")


def main():
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(sys.argv[1], pathlib.Path(folder))
        model, frames = prepare(runner)
        check_pictures(runner, model, frames)
        check_slow_viewers(runner, model, frames)
        check_ends(runner, model, frames)
        check_refusals(runner, model, frames)
    print("all as expected")


if __name__ == "__main__":
    main()
