// ONNX conformance cases: finds them, runs one on a backend, and compares its outputs.
//
// Supports both layouts of the ONNX project: a folder with `model.onnx` and
// `test_data_set_N/{input,output}_M.pb`; and flat files `light_X.onnx` with `light_X_output_0.pb`, whose
// inputs are not stored. As in the ONNX project's runner, element i of n of their (float32) inputs is then i
// / n, and an unknown dimension is 1.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "tensor/compare.hpp"

namespace hone::bench {

struct ConformanceCase {
  std::string name;  ///< folder or file name, after the folder it lies in: "node/test_abs"
  std::filesystem::path model;
  bool flat = false;
};

enum class CaseStatus { kPassed, kFailed, kSkipped };

struct CaseResult {
  std::string name;
  CaseStatus status = CaseStatus::kFailed;
  /// The unsupported feature that a skipped case uses (import/onnx/case_file.hpp).
  std::string reason;
  /// The reason why a case failed.
  std::string message;
};

std::string_view status_name(CaseStatus status);

/// Finds every case below the folders, sorted by name. Bad input if a path is not a folder or contains no
/// case.
std::vector<ConformanceCase> find_cases(std::span<const std::filesystem::path> folders);

/// How cases are run, and how large errors may be.
struct ConformanceOptions {
  std::string device = "cpu";
  /// In a precision other than fp32, float inputs are rounded to it first, so that only roundings inside the
  /// backend remain. The expected outputs are then not the stored ones but those that the reference computes
  /// for the rounded inputs, and two roundings of an output's largest value are allowed.
  tensor::Precision precision = tensor::Precision::kFp32;
  tensor::Tolerance tolerance;
};

/// Throws the backend's error if it cannot compute in the precision at all; tested with a network that
/// consists of one Relu.
void require_precision(backend::Backend& backend, const ConformanceOptions& options);

/// Runs every data set of the case. A failure is a result, not an exception.
CaseResult run_case(const ConformanceCase& test, backend::Backend& backend,
                    const ConformanceOptions& options);

}  // namespace hone::bench
