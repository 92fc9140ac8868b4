"""`hone view` and `hone report`: what a browser, a curious stranger and a hundred clients get.

usage: view_test.py HONE
"""
import concurrent.futures
import http.client
import json
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from trace_file import training_steps

USAGE, BAD_INPUT, ENVIRONMENT = 2, 3, 4
CLIENTS = 100
MALFORMED = [
    b"",
    b"\r\n\r\n",
    b"GARBAGE\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 10_000 + b"\r\n",
    b"GET /%00%ff%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nRange: bytes=-99999999999999999999-\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    bytes(range(256)) * 16,
]


class Server:
    """`hone view`, until the block ends: then Ctrl-C, after which it must be gone with exit code 0."""

    def __init__(self, hone, *inputs):
        self.process = subprocess.Popen([hone, "view", *map(str, inputs), "--port", "0"], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert "http://127.0.0.1:" in line, line + self.process.stderr.read()
        self.port = int(line.split("http://127.0.0.1:")[1].split("/")[0])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        try:
            code = self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        assert code == 0, f"{code}: {self.process.stderr.read()}"

    def ask(self, path, method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        body = response.read()
        connection.close()
        return response.status, dict(response.getheaders()), body

    def patient_ask(self, path):
        """As browsers do: once more when a connection ended while this side was too slow to use it."""
        try:
            return self.ask(path)
        except (ConnectionError, http.client.RemoteDisconnected):
            return self.ask(path)

    def list(self):
        return json.loads(self.ask("/api/report")[2])

    def until(self, condition):
        for _ in range(200):
            answer = self.list()
            if condition(answer):
                return answer
            time.sleep(0.1)
        raise AssertionError(f"still not: {json.dumps(answer)[:2000]}")

    def send(self, data):
        """What comes back for bytes that need not be HTTP."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as client:
            try:
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                return client.recv(100)
            except (ConnectionError, BrokenPipeError):
                return b""


def check_answers(server):
    ready = server.until(lambda answer: answer["profiles"] and answer["profiles"][0]["ready"])
    assert ready["live"] and ready["profiles"][0]["id"] == "train", ready
    status, headers, body = server.ask("/")
    assert status == 200 and b"</body>" in body and headers["Content-Type"].startswith("text/html")
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "script-src 'sha256-" in policy
    assert "unsafe-inline'" not in policy.split("script-src")[1].split(";")[0], policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    tag = server.ask("/api/report")[1]["ETag"]
    assert server.ask("/api/report", If_None_Match=tag)[0] == 304
    profile = json.loads(server.ask("/api/profiles/train")[2])
    assert profile["analysis"]["schema"] == "hone.analysis"
    bytes_ = server.ask("/api/timeline/train?from=0&to=1000000000&pixels=500")[2]
    header = json.loads(bytes_[4:4 + int.from_bytes(bytes_[:4], "little")])
    assert header["tracks"] and header["duration_ns"] > 0


def check_refusals(server):
    assert server.ask("/", method="POST")[0] == 405
    assert server.ask("/", method="DELETE")[0] == 405
    assert server.ask("/", Host="evil.example")[0] == 421
    assert server.ask("/", Host=f"localhost:{server.port}")[0] == 200
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/api/profiles/..%2f..%2ftrain", "/favicon.ico",
                 "/api/profiles/nothing"):
        status, _, body = server.ask(path)
        assert status == 404 and b"root:" not in body, (path, status)
    for data in MALFORMED:
        answer = server.send(data)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 "), (data[:40], answer)
    assert server.ask("/")[0] == 200


def check_crowd(server):
    paths = ["/", "/api/report", "/api/profiles/train", "/api/timeline/train?pixels=100", "/nothing"]
    with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
        answers = list(pool.map(lambda i: server.patient_ask(paths[i % len(paths)])[0], range(4 * CLIENTS)))
    assert set(answers) == {200, 404} and answers.count(404) == 4 * CLIENTS // len(paths), answers
    # Clients that say nothing hold nobody else up.
    idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(20)]
    assert server.ask("/api/report")[0] == 200
    for client in idle:
        client.close()


def check_new_files(server, folder):
    (folder / "later").mkdir()
    training_steps().write(folder / "later" / "second.trace.sqlite")
    server.until(lambda answer: [p["id"] for p in answer["profiles"] if p["ready"]] == ["second", "train"] or
                 [p["id"] for p in answer["profiles"] if p["ready"]] == ["train", "second"])


def failing(code, *command):
    ending = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert ending.returncode == code, f"{command}: {ending.returncode}: {ending.stderr}"
    assert ending.stderr.count("\n") == 1, ending.stderr
    return ending.stderr


def check_misuse(hone, folder, port):
    assert "no such file" in failing(BAD_INPUT, hone, "view", folder / "nothing")
    assert f"port {port}" in failing(ENVIRONMENT, hone, "view", folder, "--port", port)
    failing(USAGE, hone, "view", folder, "--port", "70000")
    failing(USAGE, hone, "view")
    (folder / "empty").mkdir()
    assert "no benchmark results" in failing(BAD_INPUT, hone, "report", folder / "empty")
    failing(ENVIRONMENT, hone, "report", folder, "-o", folder / "missing" / "report.html")


def check_report(hone, folder):
    (folder / "broken.trace.sqlite").write_text("no trace")
    page = folder / "report.html"
    ending = subprocess.run([hone, "report", folder, "-o", page], capture_output=True, text=True, check=True)
    assert "1 profile" in ending.stdout and "broken.trace.sqlite" in ending.stderr, ending
    text = page.read_text()
    begin = text.rindex('id="hone-report">') + len('id="hone-report">')
    report = json.loads(text[begin:text.index("</script>", begin)])
    assert len(report["profiles"]) == 1 and len(report["problems"]) == 1
    assert 'id="timeline-train"' in text
    (folder / "broken.trace.sqlite").unlink()


def check_many_comparisons(hone, folder):
    """As many as a page holds, and the rest is counted."""
    folder.mkdir()
    for i in range(7):
        trace = training_steps()
        trace.add("metadata", key="model", value="toy")
        trace.write(folder / f"{i}.trace.sqlite")
    ending = subprocess.run([hone, "report", folder, "-o", folder / "report.html"], capture_output=True, text=True,
                            check=True)
    assert "7 profiles, 16 of 21 comparisons (hone diff makes any other);" in ending.stdout, ending


def main():
    hone = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        training_steps().write(folder / "train.trace.sqlite")
        check_report(hone, folder)
        with tempfile.TemporaryDirectory() as many:
            check_many_comparisons(hone, pathlib.Path(many) / "runs")
        with Server(hone, folder) as server:
            check_answers(server)
            check_refusals(server)
            check_crowd(server)
            check_misuse(hone, folder, server.port)
            check_new_files(server, folder)


if __name__ == "__main__":
    main()
