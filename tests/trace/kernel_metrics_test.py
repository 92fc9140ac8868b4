"""`hone profile --metrics` and `--query-metrics`: names of nvprof, measured by CUPTI's range profiler.

usage: kernel_metrics_test.py HONE
"""
import json
import os
import subprocess
import sys
import unittest

HONE = sys.argv[1]


def hone(*arguments, **variables):
    return subprocess.run([HONE, *arguments], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "HONE_NVML": "/nonexistent", **variables})


class Query(unittest.TestCase):
    def test_the_list_says_what_is_measured_in_place_of_each_name(self):
        done = hone("profile", "--query-metrics", HONE_CUPTI="/nonexistent")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("achieved_occupancy\n    Warps that an SM held on average while it was active, of those it can hold\n"
                      "    0.01 * sm__warps_active.avg.pct_of_peak_sustained_active\n", done.stdout)
        self.assertIn("Which of them a GPU has is not known here: CUPTI cannot be loaded", done.stdout)

    def test_json_without_cupti_knows_nothing_of_a_gpu(self):
        answer = json.loads(hone("profile", "--query-metrics", "--json", HONE_CUPTI="/nonexistent").stdout)
        self.assertEqual((answer["schema"], answer["chip"]), ("hone.metrics", None))
        self.assertIn("CUPTI cannot be loaded", answer["problem"])
        self.assertEqual({metric["available"] for metric in answer["metrics"]}, {None})

    def test_chips_have_what_the_table_needs(self):
        # As many as CUPTI 13.0 says; a chip may gain metrics later, but none may vanish from GH100.
        least = {"TU102": 141, "GA100": 141, "AD102": 140, "GH100": 142, "GB100": 134}
        for chip, count in least.items():
            done = hone("profile", "--query-metrics", "--json", "--chip", chip)
            if "CUPTI cannot be loaded" in done.stderr:
                self.skipTest("no CUPTI here")
            self.assertEqual(done.returncode, 0, done.stderr)
            available = [metric["name"] for metric in json.loads(done.stdout)["metrics"] if metric["available"]]
            self.assertGreaterEqual(len(available), count, chip)

    def test_a_chip_that_nobody_knows(self):
        done = hone("profile", "--query-metrics", "--chip", "XX100")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("what the chip 'XX100' can measure is not known: ", done.stderr)


unittest.main(argv=sys.argv[:1])
