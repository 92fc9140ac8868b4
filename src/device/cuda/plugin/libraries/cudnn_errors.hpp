// The meaning of cuDNN's status codes here, and a check that all of cuDNN is installed.
#pragma once

#include <cudnn.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace hone::device::cuda {

/// cuDNN does not take a graph or a configuration: another tactic may. All other errors of cuDNN's are of the
/// machine.
class CudnnRefusal final : public Error {
 public:
  using Error::Error;
};

/// True if the status is about the request, rather than about memory, libraries or the GPU.
bool is_refusal(cudnnStatus_t status);

/// Throws unless `status` is success, as fail_library_call() does: of calls that no graph takes part in.
void check_machine(cudnnStatus_t status, std::string_view what);

/// Throws unless `status` is success: a CudnnRefusal, or as check_machine() does.
void check(cudnnStatus_t status, std::string_view what);

/// True if `status` is success; false for a refusal, and throws for all else as check_machine() does.
bool is_accepted(cudnnStatus_t status, std::string_view what);

/// The first of the libraries that libcudnn.so.9 opens when it needs them which is neither a file of `folder`
/// nor one that `loads`; empty where none is missing.
std::string missing_cudnn_library(const std::filesystem::path& folder, bool (*loads)(const char* name));

/// Throws where a part of cuDNN is missing, which by itself ends the process when it looks for that.
void require_cudnn();

}  // namespace hone::device::cuda
