// See run_precision.hpp.
#include "backend/run_precision.hpp"

#include "base/error.hpp"

namespace hone::backend {

using tensor::Precision;

RunPrecision parse_run_precision(std::string_view names) {
  const size_t plus = names.find('+');
  if (plus == std::string_view::npos) return {tensor::parse_precision(names), Precision::kFp32};
  const RunPrecision result{tensor::parse_precision(names.substr(0, plus)),
                            tensor::parse_precision(names.substr(plus + 1))};
  if (result.precision != Precision::kInt8 || result.beside_int8 == Precision::kInt8)
    fail_usage("precision '{}': only int8 is combined with another one, such as int8+fp16", names);
  return result;
}

}  // namespace hone::backend
