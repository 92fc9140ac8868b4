// Which failures of cuDNN's are refusals, and parts of it that are missing.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "device/cuda/plugin/libraries/cudnn_errors.hpp"

namespace hone::device::cuda {
namespace {

TEST(CudnnErrors, WhatSpeaksOfTheGraphIsARefusal) {
  for (const cudnnStatus_t status : {CUDNN_STATUS_NOT_SUPPORTED, CUDNN_STATUS_NOT_SUPPORTED_SHAPE,
                                     CUDNN_STATUS_BAD_PARAM, CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED})
    EXPECT_THROW(check(status, "finishing a descriptor"), CudnnRefusal) << status;
}

/// Refused, the step would run by something else from now on, with nobody told.
TEST(CudnnErrors, WhatSpeaksOfTheMachineIsNone) {
  for (const cudnnStatus_t status :
       {CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH,
        CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED,
        CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, CUDNN_STATUS_EXECUTION_FAILED}) {
    try {
      check(status, "finishing a descriptor");
      ADD_FAILURE() << status;
    } catch (const CudnnRefusal& error) {
      ADD_FAILURE() << error.what();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kEnvironment) << status;
    }
  }
}

/// Taken for none, cuDNN would seem to recommend nothing.
TEST(CudnnErrors, AnAnswerIsAcceptedOrRefused) {
  EXPECT_TRUE(is_accepted(CUDNN_STATUS_SUCCESS, "asking for advice"));
  EXPECT_FALSE(is_accepted(CUDNN_STATUS_NOT_SUPPORTED, "asking for advice"));
  EXPECT_FALSE(is_accepted(CUDNN_STATUS_BAD_PARAM, "asking for advice"));
  EXPECT_THROW(is_accepted(CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED, "asking for advice"), Error);
  EXPECT_THROW(is_accepted(CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED, "asking for advice"), Error);
}

TEST(CudnnErrors, ACallWithoutAGraphRefusesNothing) {
  EXPECT_NO_THROW(check_machine(CUDNN_STATUS_SUCCESS, "starting cuDNN"));
  try {
    check_machine(CUDNN_STATUS_NOT_INITIALIZED, "starting cuDNN");
    ADD_FAILURE();
  } catch (const CudnnRefusal& error) {
    ADD_FAILURE() << error.what();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "starting cuDNN failed in cuDNN: CUDNN_STATUS_NOT_INITIALIZED");
  }
}

TEST(CudnnErrors, APartThatIsMissingIsNamed) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "cudnn_parts";
  std::filesystem::create_directory(folder);
  const auto nothing = [](const char*) { return false; };
  const auto anything = [](const char*) { return true; };
  EXPECT_EQ(missing_cudnn_library(folder, anything), "");
  EXPECT_EQ(missing_cudnn_library(folder, nothing), "libcudnn_graph.so.9");
  for (const char* part : {"graph", "ops", "cnn", "engines_precompiled", "engines_runtime_compiled"})
    std::ofstream(folder / ("libcudnn_" + std::string(part) + ".so.9"));
  EXPECT_EQ(missing_cudnn_library(folder, nothing), "libcudnn_heuristic.so.9");
  std::ofstream(folder / "libcudnn_heuristic.so.9");
  EXPECT_EQ(missing_cudnn_library(folder, nothing), "");
  std::filesystem::remove_all(folder);
}

/// The libraries of the build are all there.
TEST(CudnnErrors, NothingIsMissingHere) { EXPECT_NO_THROW(require_cudnn()); }

}  // namespace
}  // namespace hone::device::cuda
