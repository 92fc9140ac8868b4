#!/usr/bin/python3
"""Draws how fast hone and others run networks on a CPU, from a summary of runs that took turns: bars of speed beside ONNX Runtime.

usage: chart.py SUMMARY PRECISION >CHART.svg

Only runs that were VALID are drawn, those of a network from the newest file that has hone's and ONNX Runtime's.
"""
import json
import sys

BASE = "onnxruntime_python"
SYSTEMS = {"hone": ("hone", "#0b6e4f"), "openvino": ("OpenVINO", "#7a5fb5"), "torch_inductor": ("torch.compile", "#d1660f"),
           BASE: ("ONNX Runtime", "#8a8f98")}
NAMES = {"resnet50": "ResNet-50", "mobilenet_v3_large": "MobileNetV3-L", "efficientnet_b0": "EfficientNet-B0", "convnext_tiny": "ConvNeXt-T",
         "vit_b_16": "ViT-B/16", "bert_base": "BERT-base", "minilm_l6": "MiniLM-L6", "bilstm": "biLSTM", "unet": "UNet"}
LEFT, BAR, GAP, SCALE = 130, 11, 12, 210


def valid_runs(summary, precision):
    """{network: {system: (milliseconds, version)}}: the newest file of a network with hone and the base, whose runs took turns."""
    networks = {}
    for file in sorted(summary["files"], key=lambda entry: entry["date"]):
        of_file = {}
        for row in (dict(zip(summary["columns"], values)) for values in file["runs"]):
            if row["precision"] != precision or row["batch"] != 1 or not row["verdict.valid"] or row["backend"] not in SYSTEMS:
                continue
            version = summary["backend_versions"][row["backend_version"]]
            of_file.setdefault(row["model"].removesuffix(".onnx"), {})[row["backend"]] = (row["latency_ms.p50"], version)
        networks |= {name: systems for name, systems in of_file.items() if {"hone", BASE} <= systems.keys()}
    return networks


def text(x, y, content, size=12, anchor="start", weight="normal"):
    content = content.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="#57606a">{content}</text>'


def chart(networks, machine, precision):
    parts, y = [], 64
    for name in sorted(networks, key=lambda one: networks[one]["hone"][0] / networks[one][BASE][0]):
        systems, top = networks[name], y
        for system, (_, colour) in SYSTEMS.items():
            if system not in systems:
                continue
            speed = systems[BASE][0] / systems[system][0]
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{SCALE * speed:.1f}" height="{BAR - 1}" fill="{colour}"/>')
            parts.append(text(round(LEFT + SCALE * speed + 5, 1), y + 9, f"{speed:.2f}  ({systems[system][0]:.3g} ms)", 10))
            y += BAR
        parts.append(text(LEFT - 8, (top + y) / 2 + 4, NAMES.get(name, name), 12, "end"))
        y += GAP
    versions = {system: version for systems in networks.values() for system, (_, version) in systems.items()}
    x, legend = 8, []
    for system, (name, colour) in SYSTEMS.items():
        label = name if system == "hone" else f"{name} {versions.get(system, '').split('+')[0]}"
        legend += [f'<rect x="{x}" y="34" width="11" height="11" fill="{colour}"/>', text(x + 16, 44, label)]
        x += 30 + 7 * len(label)
    title = f"Speed beside ONNX Runtime (1.00), {precision}, batch 1, {machine}"
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="720" height="{y}" viewBox="0 0 720 {y}" font-family="sans-serif" role="img">',
                      f"<title>{title}</title>", text(8, 20, title, 14, weight="bold"), *legend, *parts, "</svg>", ""])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        summary = json.load(file)
    machine = summary["machines"][0]
    sys.stdout.write(chart(valid_runs(summary, sys.argv[2]), f"{machine['cores']} cores of {machine['cpu']}", sys.argv[2]))


if __name__ == "__main__":
    main()
