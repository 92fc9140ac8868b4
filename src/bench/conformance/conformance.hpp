// ONNX conformance cases: finding them, running one on a backend, comparing its outputs.
//
// Two layouts, both the ONNX project's own: a folder with `model.onnx` and
// `test_data_set_N/{input,output}_M.pb`; and flat files `light_X.onnx` with `light_X_output_0.pb`, whose
// inputs are not stored: element i of n of every (float32) input is i / n, and an unknown dimension is 1, as
// in the ONNX project's runner.
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

/// Every case below the folders, by name; bad input for a folder that is none or holds none.
std::vector<ConformanceCase> find_cases(std::span<const std::filesystem::path> folders);

/// How cases run, and how far their outputs may be off.
struct ConformanceOptions {
  std::string device = "cpu";
  /// In another one than fp32, floats are rounded to it before they are fed, so that only roundings within
  /// the backend are left, and what the reference computes of them is expected instead of the stored outputs.
  /// Two roundings of an output's largest value are then allowed.
  tensor::Precision precision = tensor::Precision::kFp32;
  tensor::Tolerance tolerance;
};

/// The backend's error when it cannot compute in the precision at all, seen by a network of one Relu.
void require_precision(backend::Backend& backend, const ConformanceOptions& options);

/// Runs every data set of the case. Failures are results, not errors.
CaseResult run_case(const ConformanceCase& test, backend::Backend& backend,
                    const ConformanceOptions& options);

}  // namespace hone::bench
