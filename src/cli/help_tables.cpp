// See help_tables.hpp.
#include "cli/help_tables.hpp"

#include <array>

namespace hone::cli {
namespace {

constexpr auto kGroups = std::to_array<HelpGroup>({
    {"bench", "Configurations",
     "--backends --precisions --batches --full --shapes --dim --weights --seed --darknet-rules --input "
     "--values --bind --context --peer --partition"},
    {"bench", "Where", "--device --threads --busy --streams --includeDataTransfers --coldL2"},
    {"bench", "How long and how often", "--warmup --iterations --exact --duration --rounds --timeout"},
    {"bench", "Judgement",
     "--require-percentile --require-valid --max-error --compare-to --baseline --max-regression"},
    {"bench", "Results", "--output --save-result --percentiles --layers --csv --json"},
    {"build", "Device", "--device --portable --threads"},
    {"build", "Precision", "--precision --calibrate --calib"},
    {"build", "Shapes", "--minShapes --optShapes --maxShapes --dim --bind"},
    {"build", "Search for the fastest tactics",
     "--builderOptimizationLevel --builderBudget --timingCacheFile --errorOnTimingCacheMiss --noTimingCache"},
    {"build", "Model", "--weights --seed --darknet-rules --disable-pass"},
    {"inspect", "Output", "--rivals --passes --graph --json"},
    {"inspect", "How a model is built",
     "--device --portable --precision --calibrate --calib --minShapes --optShapes --maxShapes --dim --bind "
     "--builderOptimizationLevel --builderBudget --threads --disable-pass --timingCacheFile "
     "--errorOnTimingCacheMiss --noTimingCache --weights --seed --darknet-rules"},
    {"inspect", "Engines of other systems", "--backend --layer-files --batch --runs --trust --shapes"},
    {"profile", "A model",
     "--backends --precisions --batches --shapes --dim --weights --seed --darknet-rules --input --values "
     "--bind --context --threads --device"},
    {"profile", "Schedule of a model", "--wait --warmup --active --repeat"},
    {"profile", "A program", "--trace-threads --delay --duration --capture-range --kernels"},
    {"profile", "GPU",
     "--counters --counter-rate --metrics --query-metrics --chip --json --cupti --no-driver-api"},
    {"profile", "Recording", "--record-shapes --profile-memory"},
    {"run", "Inputs and outputs", "--input --bind --output --outputs --top"},
    {"run", "How it runs", "--backend --device --precision --threads --builderOptimizationLevel"},
    {"run", "Model", "--weights --seed --darknet-rules"},
    {"analyze", "Output", "--only --full --steps --rows --base-names --by-launch-shape --by-input-shapes"},
    {"analyze", "Form", "--json --csv --log-file"},
    {"diff", "Accuracy", "--accuracy --input --reference --tolerance --threads"},
    {"diff", "Form", "--rows --json --csv"},
    {"quantize", "Calibration",
     "--calibrate --calib --calibrator --samples --percentile --calib-format --calib-version"},
    {"quantize", "The int8 model",
     "--output --target --rounding --no-bias-correction --no-equalization --opset"},
    {"quantize", "Accuracy",
     "--accuracy-budget --labels --evaluate --accuracy-samples --report --rows --threads"},
    {"quantize", "Model", "--weights --seed --darknet-rules"},
    {"partition", "How the model is split", "--backends --min-block-size --exclude --require-full"},
    {"partition", "Actions and output", "--dry-run --measure --torch-tensorrt-report --json --output"},
    {"partition", "Device, precision and shapes", "--device --precision --batch --shapes --dim --threads"},
    {"detect", "Network",
     "--backend --backends --device --precision --threads --batch --infStreams --weights --seed "
     "--darknet-rules --labels"},
    {"classify", "Network",
     "--backend --device --precision --threads --batch --infStreams --weights --seed --darknet-rules "
     "--labels"},
});

constexpr auto kPlaceholders = std::to_array<HelpPlaceholder>({
    {"FILE",
     "--weights --calib --timingCacheFile --partition --baseline --labels --report --log-file --trace "
     "--stats "
     "--ground-truth --torch-tensorrt-report --tensorrt-calib --tensorrt-calib-output --json --reference"},
    {"PATH", "--output --input --calibrate --evaluate --tensorrt-calibrate"},
    {"FOLDER", "--layer-files"},
    {"NAME",
     "--backend --backends --precision --precisions --device --portable --disable-pass --exclude "
     "--compare-to --encoder --preset --decoder --format --formats --calibrator --calib-format --rounding "
     "--target --fit --theme --colours --preprocess --hwaccel --layout --only --to --metrics --chip "
     "--darknet-rules "
     "--tensorrt-tactics --tensorrt-typing --tensorrt-calibrator --outputs --capture-range"},
    {"NAME:SHAPE", "--shapes --minShapes --optShapes --maxShapes"},
    {"NAME=SIZE", "--dim"},
    {"NAME:NUMBER", "--values"},
    {"INPUT=OUTPUT", "--bind"},
    {"NAME=COMMAND", "--peer"},
    {"WIDTHxHEIGHT", "--size"},
    {"FIRST:LAST", "--steps"},
    {"NUMBERS", "--mean --std"},
    {"PERCENT", "--accuracy-budget --max-regression"},
    {"PATTERN", "--filter --kernels"},
    {"ADDRESS", "--host"},
    {"N", "--tensorrt-level --tensorrt-workspace --tensorrt-threads --tensorrt-min-block-size"},
});

constexpr auto kExamples = std::to_array<HelpExample>({
    {"", "hone bench resnet50"},
    {"", "hone build model.onnx -o model.hone"},
    {"analyze", "hone analyze runs/resnet50-hone-fp32-b1.trace.sqlite"},
    {"analyze", "hone analyze trace.json.gz --only advice"},
    {"backends", "hone backends"},
    {"backends", "hone backends --device cuda"},
    {"bench", "hone bench model.onnx --batches 1 8 --precisions fp32 bf16"},
    {"bench", "hone bench a.hone b.hone --input photo.npy"},
    {"bench", "hone bench model.hone --layers --csv"},
    {"build", "hone build model.onnx -o model.hone --precision bf16"},
    {"build", "hone build model.onnx -o model.hone --minShapes x:1x3x224x224 --maxShapes x:8x3x224x224"},
    {"build", "hone build model.onnx -o model.hone --portable AVX2"},
    {"cache", "hone cache"},
    {"cache", "hone cache clear timings"},
    {"classify", "hone classify resnet50.onnx images/ --labels names.txt --top 5"},
    {"classify", "hone classify resnet50.onnx cat.jpg -o classes.csv"},
    {"classify", "hone classify net.onnx validation/ --ground-truth folders --format csv -o classes.csv"},
    {"completion", "hone completion bash > ~/.local/share/bash-completion/completions/hone"},
    {"completion", "hone completion fish > ~/.config/fish/completions/hone.fish"},
    {"conformance", "hone conformance cases/ --backend hone"},
    {"conformance", "hone conformance cases/ --filter 'conv.*' --json results.json"},
    {"convert", "hone convert net.trace.sqlite logs/run1"},
    {"convert", "hone convert net.trace.sqlite csv/ --to csv"},
    {"detect", "hone detect yolov8n.onnx street.mp4 -o boxes.mp4"},
    {"detect", "hone detect yolov4-tiny.cfg images/ -o boxes.jsonl --ground-truth truth.txt"},
    {"detect", "hone detect yolov4-tiny.cfg street.mp4 -o out.mp4 --backends hone,torch,torchscript"},
    {"devices", "hone devices"},
    {"devices", "hone devices | grep precisions"},
    {"diff", "hone diff before.trace.sqlite after.trace.sqlite"},
    {"diff", "hone diff a.trace.sqlite b.trace.sqlite --csv"},
    {"export", "hone export resnet50 -o resnet50.onnx --dynamic-batch"},
    {"export", "hone export model.onnx -o batch8.onnx --batch-size 8"},
    {"help", "hone help bench"},
    {"help", "hone help foreign"},
    {"inspect", "hone inspect model.hone --rivals"},
    {"inspect", "hone inspect model.onnx --graph"},
    {"ops", "hone ops"},
    {"ops", "hone ops Conv MatMul"},
    {"partition", "hone partition model.onnx --backends hone,torch --dry-run"},
    {"partition", "hone partition model.onnx --backends hone,torch --measure -o p.json"},
    {"passes", "hone passes"},
    {"passes", "hone passes | grep fusion"},
    {"plot", "hone plot runs/ -o plots"},
    {"plot", "hone plot runs/resnet50.json --formats png"},
    {"profile", "hone profile resnet50 --precisions bf16"},
    {"profile", "hone profile -- python3 infer.py"},
    {"profile", "hone profile detect net.onnx in.mp4 -o out.mp4"},
    {"quantize", "hone quantize model.onnx --calibrate images/ -o model-int8.onnx"},
    {"quantize", "hone quantize model.onnx --calib model.cache -o model-int8.onnx"},
    {"report", "hone report runs/ -o report.html"},
    {"report", "hone report a.json b.json"},
    {"run", "hone run resnet50 --weights resnet50.safetensors --input cat.jpg --top 5"},
    {"run", "hone run model.hone --input x.npy -o y.npz"},
    {"view", "hone view runs/"},
    {"view", "hone view runs/ --port 8080"},
});

}  // namespace

std::span<const HelpGroup> help_groups() { return kGroups; }
std::span<const HelpExample> help_examples() { return kExamples; }
std::span<const HelpPlaceholder> help_placeholders() { return kPlaceholders; }

}  // namespace hone::cli
