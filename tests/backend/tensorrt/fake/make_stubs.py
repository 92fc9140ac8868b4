#!/usr/bin/python3
"""Writes classes that implement every pure virtual function of TensorRT's public interface by doing nothing, so that
the fake library says only what it fakes.

usage: make_stubs.py INCLUDE_FOLDER OUTPUT.hpp
"""
import re
import sys
from pathlib import Path

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
PURE = re.compile(r"virtual\s+(?P<result>[^;{}()]*?[\s*&])(?P<name>\w+)\((?P<parameters>[^;{}]*?)\)\s*"
                  r"(?P<tail>(?:const\s*)?(?:noexcept\s*)?)=\s*0\s*;", re.DOTALL)
RESULT_WORDS = re.compile(r"\b(TRT_NODISCARD|TRT_DEPRECATED|virtual)\b")


def body_of(text, head):
    """What stands between the braces after this regular expression."""
    begin = re.search(head + r"[^;{]*\{", text).end()
    depth, at = 1, begin
    while depth:
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return text[begin:at - 1]


def stub(text, kind, scope):
    lines = [f"class {kind}Stub : public {scope}{kind} {{", " public:"]
    for found in PURE.finditer(body_of(text, rf"class {kind}\b")):
        if found["name"].startswith("~"):
            continue
        result = RESULT_WORDS.sub("", found["result"]).strip()
        parameters = re.sub(r"\s*=\s*[^,]+", "", " ".join(found["parameters"].split()))
        value = "std::abort();" if result.endswith("&") else "" if result == "void" else "return {};"
        lines.append(f"  {result} {found['name']}({parameters}) {' '.join(found['tail'].split())} override {{ {value} }}")
    return lines + ["};", ""]


def main():
    include, output = Path(sys.argv[1]), Path(sys.argv[2])
    implementation = COMMENT.sub("", (include / "NvInferImpl.h").read_text(encoding="utf-8"))
    parser = COMMENT.sub("", (include / "NvOnnxParser.h").read_text(encoding="utf-8"))
    lines = ["// Written by make_stubs.py from TensorRT's public headers.", "#pragma once", "#include <NvInfer.h>",
             "#include <NvOnnxParser.h>", "#include <cstdlib>", "namespace nvinfer1 {"]
    for kind in ("VHostMemory", "VOptimizationProfile", "VEngineInspector", "VTensor", "VNetworkDefinition", "VTimingCache",
                 "VBuilderConfig", "VBuilder", "VRuntime", "VCudaEngine", "VExecutionContext"):
        lines += stub(implementation, kind, "apiv::")
    lines += ["}  // namespace nvinfer1", "namespace nvonnxparser {"]
    for kind in ("IParserError", "IParser"):
        lines += stub(parser, kind, "")
    lines += ["}  // namespace nvonnxparser", ""]
    output.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
