// See architectures.hpp.
#include "import/zoo/architectures.hpp"

namespace hone::importer {
namespace {

constexpr ArchitectureEntry kArchitectures[] = {
    {"resnet18", build_resnet18},
    {"resnet34", build_resnet34},
    {"resnet50", build_resnet50},
    {"resnet101", build_resnet101},
    {"mobilenet_v2", build_mobilenet_v2},
    {"alexnet", build_alexnet},
    {"vgg16", build_vgg16},
    {"squeezenet1_1", build_squeezenet1_1},
    {"densenet121", build_densenet121},
    {"efficientnet_b0", build_efficientnet_b0},
};

}  // namespace

std::span<const ArchitectureEntry> architectures() { return kArchitectures; }

}  // namespace hone::importer
