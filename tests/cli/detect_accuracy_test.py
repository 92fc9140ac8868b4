"""`hone detect --ground-truth` from outside: MOT's text and COCO's JSON, and what does not count.

usage: detect_accuracy_test.py HONE
"""
import json
import pathlib
import sys
import tempfile

import numpy as np

from vision import BAD_INPUT, Runner, constant_model, picture


def check_accuracy(runner):
    """A network that always finds the same two boxes, against truths that it meets in two of four frames."""
    folder = runner.folder / "images"
    folder.mkdir()
    for number in (2, 10, 1):
        picture(64, 32).save(folder / f"{number}.png")
    output = np.zeros((1, 300, 6), np.float32)
    output[0, 0] = [8, 4, 24, 20, 0.9, 0]
    output[0, 1] = [40, 4, 56, 20, 0.6, 1]
    model = constant_model(runner.folder / "model.onnx", [1, 3, 32, 64], {"output0": output},
                           {"names": "['a', 'b']", "end2end": "True"})
    truth = runner.folder / "truth.txt"
    # Frames and pixels count from 1, classes too. Class a: found in frames 1 and 2 of its 2, and once where
    # nothing is. Class b: its only box lies elsewhere.
    truth.write_text("1,1,9,5,16,16,1,1,1\n2,1,9,6,16,16,1,1,1\n3,1,1,1,4,4,1,2,1\n3,1,41,5,16,16,0,2,1\n")
    text = runner.good("detect", model, folder, "--ground-truth", truth, "-o", runner.folder / "o.jsonl").stdout
    assert "mAP@0.5 0.5000" in text and "precision 0.4000" in text and "recall 0.6667" in text, text
    assert "101 points" in text, text
    # Boxes of frames that were not read would look as if they had been missed.
    truth.write_text(truth.read_text() + "400,1,9,5,16,16,1,1,1\n")
    ending = runner.good("detect", model, folder, "--ground-truth", truth, "-o", runner.folder / "o.jsonl")
    assert "mAP@0.5 0.5000" in ending.stdout and "recall 0.6667" in ending.stdout, ending.stdout
    assert "1 of the true boxes lie in frames that were not read (1 of them) and do not count" in ending.stderr, ending.stderr
    coco = {"images": [], "categories": [{"id": 7, "name": "b"}, {"id": 9, "name": "a"}],
            "annotations": [{"image_id": 1, "category_id": 9, "bbox": [8, 4, 16, 16]},
                            {"image_id": 10, "category_id": 9, "bbox": [8, 4, 16, 16]},
                            {"image_id": 2, "category_id": 7, "bbox": [40, 4, 16, 16]}]}
    truth.write_text(json.dumps(coco))
    text = runner.good("detect", model, folder, "--ground-truth", truth, "-o", runner.folder / "o.jsonl").stdout
    assert "3 true boxes, 3 detections true, 3 false" in text, text
    # A crowd's box is none of the true ones, and what lies in it by half is neither true nor false: a in image 2,
    # but not b in image 1.
    coco["annotations"] += [
        {"image_id": 2, "category_id": 9, "bbox": [0, 0, 64, 32], "iscrowd": 1},
        {"image_id": 1, "category_id": 7, "bbox": [0, 0, 30, 30], "iscrowd": 1}]
    truth.write_text(json.dumps(coco))
    text = runner.good("detect", model, folder, "--ground-truth", truth, "-o", runner.folder / "o.jsonl").stdout
    assert "3 true boxes, 3 detections true, 2 false" in text, text
    assert "AP@0.5 1.0000  2 true boxes" in text, text
    # Two categories that the network does not know are two classes, neither of them one of its own.
    coco["categories"] += [{"id": 11, "name": "c"}, {"id": 3, "name": "d"}]
    coco["annotations"] += [{"image_id": 1, "category_id": 11, "bbox": [8, 4, 16, 16]},
                            {"image_id": 1, "category_id": 3, "bbox": [40, 4, 16, 16]}]
    truth.write_text(json.dumps(coco))
    text = runner.good("detect", model, folder, "--ground-truth", truth, "-o", runner.folder / "o.jsonl").stdout
    assert "5 true boxes, 3 detections true, 2 false" in text, text
    lines = {line.split()[0]: line.split()[2:] for line in text.splitlines() if " AP@0.5 " in line}
    assert lines["c"] == lines["d"] == ["0.0000", "1", "true", "boxes"], lines
    coco["categories"] = [{"id": number, "name": f"other {number}"} for number in (3, 7, 9, 11)]
    truth.write_text(json.dumps(coco))
    ending = runner.good("detect", model, folder, "--ground-truth", truth, "-o", runner.folder / "o.jsonl")
    assert "categories are the network's classes in the order of their ids" in ending.stderr, ending.stderr
    check_image_names(runner, model, folder, truth)
    truth.write_text("1,1,9,5,16,16,1,1,1\n1,1,9,5,0,16,1,1,1\n")
    ending = runner.good("detect", model, folder, "--ground-truth", truth, "-o", runner.folder / "o.jsonl")
    assert "ground truth: a box without an area was left out" in ending.stderr, ending.stderr
    assert "1 true boxes" in ending.stdout, ending.stdout
    # It is looked at before the network is built.
    runner.bad(BAD_INPUT, "none.txt", "detect", runner.folder / "no_such_model", folder, "--ground-truth", runner.folder / "none.txt")
    truth.write_text("1,1,9,5,16\n")
    runner.bad(BAD_INPUT, "line 1", "detect", model, folder, "--ground-truth", truth)
    truth.write_text("{}")
    runner.bad(BAD_INPUT, "COCO", "detect", model, folder, "--ground-truth", truth)


def check_image_names(runner, model, folder, truth):
    """COCO's list of images gives their ids by the names of their files, whatever folders stand before them."""
    named = runner.folder / "named"
    named.mkdir()
    for source, name in zip(sorted(folder.iterdir()), ("b.png", "a.png", "0007.png")):
        (named / name).write_bytes(source.read_bytes())
    coco = {"images": [{"id": 40, "file_name": "val/a.png"}, {"id": 50, "file_name": "val/b.png"}],
            "categories": [{"id": 7, "name": "b"}, {"id": 9, "name": "a"}],
            "annotations": [{"image_id": 40, "category_id": 9, "bbox": [8, 4, 16, 16]},
                            {"image_id": 50, "category_id": 9, "bbox": [8, 4, 16, 16]},
                            {"image_id": 50, "category_id": 7, "bbox": [40, 4, 16, 16]}]}
    truth.write_text(json.dumps(coco))
    found = runner.folder / "found.json"
    ending = runner.good("detect", model, named, "--ground-truth", truth, "-o", found)
    # Image 0007 is not in the list, so what is found there is neither true nor false.
    assert "3 true boxes, 3 detections true, 1 false" in ending.stdout, ending.stdout
    assert "1 image is not in the ground truth's list of images and does not count" in ending.stderr, ending.stderr
    ids = [entry["image_id"] for entry in json.loads(found.read_text())]
    assert sorted(set(ids)) == [40, 50, 58], ids


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_accuracy(Runner(sys.argv[1], pathlib.Path(folder)))
    print("all as expected")


if __name__ == "__main__":
    main()
