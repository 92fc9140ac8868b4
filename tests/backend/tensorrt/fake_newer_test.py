"""bench/gpu/partition.sh with two fakes of TensorRT: one that builds, and a newer one whose builder resource is missing.

usage: fake_newer_test.py HONE FAKES MAJOR MODELS_DIGITS
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from fake_test import Fakes

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "bench" / "gpu" / "partition.sh"


def main():
    hone, fakes, major, digits = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        faked = Fakes(hone, fakes, 8, folder)
        ending = faked.run("inspect", digits / "digits.onnx", "--backend", "tensorrt", "--precision", "fp32", "--batch", 2, "--runs", 1)
        assert ending.returncode == 0, ending.stderr
        newer = folder / "newer"
        newer.mkdir()
        shutil.copy(fakes / str(major) / f"libnvinfer.so.{major}", newer)
        (newer / f"libnvonnxparser.so.{major}").symlink_to(f"libnvinfer.so.{major}")
        output = folder / "out"
        environment = {**faked.environment, "TENSORRT": faked.environment["HONE_TENSORRT"], "NEWER": str(newer), "DIGITS": str(digits),
                       "BACKENDS": "tensorrt,reference", "PATH": f"/usr/bin:{os.environ['PATH']}",
                       "MODELS": str(digits / "digits.onnx"), "FAKE_TENSORRT_LACKS": "Det", "FAKE_TENSORRT_FAILS": "no resource"}
        ending = subprocess.run(["bash", str(SCRIPT), str(hone.parent.parent), str(output), "newer"], capture_output=True, text=True,
                                check=False, env=environment)
        assert ending.returncode == 0, ending.stderr
        done = {file.stem for file in output.glob("*.done")}
        assert done == {"newer-version", "newer-unusual", "newer-refusal", "newer-support-digits", "newer-build", "newer-plan"}, (
            done, ending.stdout, ending.stderr)
        assert "cannot build: libnvinfer_builder_resource_sm90.so" in ending.stdout, ending.stdout
        said = (output / "newer-refusal.txt").read_text()
        assert "determinant" in said and "has no Det" in said, said
        assert "was built by TensorRT 8." in (output / "newer-plan.err").read_text()
    print(f"TensorRT {major}, faked, without its builder resource: what partition.sh says of it")


if __name__ == "__main__":
    main()
