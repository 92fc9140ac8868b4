"""Videos that `hone detect` writes, played to their end by Chromium: the index is in front, and formats that browsers do not
play are told. Ends with 4 where Chromium is not installed.

usage: browser_test.py HONE
"""
import http.server
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading

import numpy as np
from PIL import Image

from vision import Runner, constant_model

PAGE = b"""<!doctype html><video id=v muted></video><script>
const video = document.getElementById('v');
const tell = (text) => fetch('/result', { method: 'POST', body: JSON.stringify(text) });
video.onerror = () => tell({ error: video.error.message || String(video.error.code) });
video.onended = () => tell({
  width: video.videoWidth, height: video.videoHeight, seconds: video.duration,
  frames: video.getVideoPlaybackQuality().totalVideoFrames,
});
video.src = '/video';
video.play().catch((error) => tell({ error: String(error) }));
</script>"""
SECONDS = 90


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path not in ("/", "/video"):
            return self.send_error(404)
        body = PAGE if self.path == "/" else self.server.video.read_bytes()
        self.send_response(200)
        kind = "text/html" if self.path == "/" else f"video/{self.server.video.suffix[1:]}"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # the browser has seen enough

    def do_POST(self):
        self.server.result = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.server.told.set()


def played(chromium, video):
    """What the browser says of the video once it has ended."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.video, server.result, server.told = video, None, threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--autoplay-policy=no-user-gesture-required",
             f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            assert server.told.wait(SECONDS), f"Chromium said nothing of {video} in {SECONDS} s"
        finally:
            os.killpg(browser.pid, signal.SIGKILL)
            browser.wait()
            server.shutdown()
            server.server_close()
    return server.result


def boxes(video):
    """Names of an MP4's outermost boxes in their order."""
    data, at, names = video.read_bytes(), 0, []
    while at + 8 <= len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        names.append(name.decode())
        at += size if size > 1 else len(data)
    return names


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("SKIPPED: Chromium is not installed")
        sys.exit(4)
    with tempfile.TemporaryDirectory() as folder:
        check(chromium, Runner(sys.argv[1], pathlib.Path(folder)))
    print("videos play in a browser")


def check(chromium, runner):
    frames = runner.folder / "frames"
    frames.mkdir()
    for number in range(12):
        # Odd sides: the encoder gets a pixel more.
        pixels = np.full((97, 129, 3), 40 + 15 * number, np.uint8)
        Image.fromarray(pixels).save(frames / f"{number}.png")
    nothing = constant_model(runner.folder / "nothing.onnx", [1, 3, 32, 32],
                             {"output0": np.zeros((1, 300, 6), np.float32)}, {"end2end": "True"})

    def written(name, *arguments, source=frames):
        path = runner.folder / name
        return path, runner.good("detect", nothing, source, "-o", path, *arguments)

    for name in ("out.mp4", "out.webm"):
        path, ending = written(name)
        assert "browsers" not in ending.stderr, ending.stderr
        found = played(chromium, path)
        assert (found.get("width"), found.get("height")) == (130, 98), (name, found)
        assert found["frames"] == 12, (name, found)
    path = runner.folder / "out.mp4"
    names = boxes(path)
    assert names.index("moov") < names.index("mdat"), names

    # The recording that was read decides the range, the times and the shape of pixels: a video again, from the one above.
    again, _ = written("again.mp4", source=path)
    assert played(chromium, again)["frames"] == 12

    # The report: an MP4 of the older MPEG-4, which plays nowhere but in players.
    older, ending = written("older.mp4", "--encoder", "mpeg4")
    assert "note: browsers do not play mpeg4: they play H.264, VP8, VP9 and AV1" in ending.stderr, ending.stderr
    assert "error" in played(chromium, older)

    # Players of Apple know H.265 in an MP4 by this name only.
    newer, ending = written("newer.mp4", "--encoder", "libx265")
    data = newer.read_bytes()
    assert b"hvc1" in data and b"hev1" not in data
    assert "note: not all browsers play hevc" in ending.stderr, ending.stderr


main()
