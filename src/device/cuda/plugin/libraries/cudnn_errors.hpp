// Interprets cuDNN's status codes, and checks that cuDNN is installed completely.
#pragma once

#include <cudnn.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace hone::device::cuda {

/// cuDNN does not accept a graph or a configuration; another tactic may. All other errors of cuDNN concern
/// the machine.
class CudnnRefusal final : public Error {
 public:
  using Error::Error;
};

/// True if the status concerns the request, and not memory, libraries or the GPU.
bool is_refusal(cudnnStatus_t status);

/// For calls without a graph: throws like fail_library_call() unless `status` is success.
void check_machine(cudnnStatus_t status, std::string_view what);

/// Throws unless `status` is success: a CudnnRefusal, or the errors of check_machine().
void check(cudnnStatus_t status, std::string_view what);

/// Returns true if `status` is success and false for a refusal; throws the errors of check_machine() for all
/// others.
bool is_accepted(cudnnStatus_t status, std::string_view what);

/// Returns the first library that libcudnn.so.9 opens on demand and that is neither a file in `folder` nor
/// accepted by `loads`; empty if none is missing.
std::string missing_cudnn_library(const std::filesystem::path& folder, bool (*loads)(const char* name));

/// Throws if a part of cuDNN is missing, because cuDNN itself would end the process when it needs that part.
void require_cudnn();

}  // namespace hone::device::cuda
