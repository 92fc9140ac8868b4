#!/usr/bin/python3
"""Asks the workers of peers what they answer where they cannot run.

usage: peers_test.py
"""
import json
import os
import subprocess
import sys
import unittest

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "peers")


class Peers(unittest.TestCase):
    def test_peers_of_the_cpu_refuse_other_devices(self):
        peers = ["onnxruntime_python", "openvino", "torch_eager", "torch_inductor"]
        if os.path.isdir(os.path.join(PEERS, "onnxruntime", "node_modules", "onnxruntime-node")):
            peers.append("onnxruntime")
        request = {"id": 1, "type": "load", "model": "m", "onnx": "m.onnx", "precision": "fp32", "threads": 1,
                   "device": "cuda", "includes_transfers": False, "inputs": []}
        for peer in peers:
            done = subprocess.run([os.path.join(PEERS, peer, "worker")], input=json.dumps(request) + "\n",
                                  capture_output=True, text=True, timeout=20)
            answer = json.loads(done.stdout)
            self.assertEqual((answer["type"], answer["kind"]), ("error", "environment"), peer)
            self.assertIn("on the CPU, not on cuda", answer["message"], peer)

    def test_peers_in_python_say_what_is_missing(self):
        hello = {"id": 1, "type": "hello", "protocol": 1}
        for peer, package in (("onnxruntime_python", "onnxruntime"), ("openvino", "openvino"), ("torch_eager", "torch"),
                              ("torch_inductor", "torch")):
            # Without the user's and the system's packages.
            worker = os.path.join(PEERS, "torch_eager" if package == "torch" else peer, "worker")
            done = subprocess.run([sys.executable, "-S", "-I", worker], input=json.dumps({**hello, "backend": peer}) + "\n",
                                  capture_output=True, text=True, timeout=60)
            answer = json.loads(done.stdout)
            self.assertEqual((answer["type"], answer["kind"]), ("error", "environment"), peer)
            self.assertIn(f"the Python package {package} is missing in {sys.executable}", answer["message"], peer)


if __name__ == "__main__":
    unittest.main()
