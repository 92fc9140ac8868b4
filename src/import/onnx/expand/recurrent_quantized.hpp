// DynamicQuantizeLSTM of com.microsoft.
#pragma once

#include "import/onnx/expand/expansion.hpp"

namespace hone::importer {

void dynamic_quantize_lstm(Expansion& e);

}  // namespace hone::importer
