// Errors of the CUDA runtime become a sentence and an exit code. Needs no GPU: the codes are made up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/cuda/plugin/runtime.hpp"

namespace hone::device::cuda {
namespace {

using ::testing::HasSubstr;

Error error_of(cudaError_t status) {
  try {
    check(status, "a launch");
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error;
  }
  return {ErrorKind::kInternal, "no error"};
}

TEST(Check, LetsSuccessPass) { EXPECT_NO_THROW(check(cudaSuccess, "a launch")); }

TEST(Check, CallsAFullMemoryByItsName) {
  const Error error = error_of(cudaErrorMemoryAllocation);
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_THAT(error.what(), HasSubstr("a launch failed because the GPU's memory is full: "));
}

TEST(Check, CallsAFaultABugOfOurs) {
  for (const cudaError_t status : {cudaErrorIllegalAddress, cudaErrorMisalignedAddress,
                                   cudaErrorLaunchFailure, cudaErrorAssert, cudaErrorIllegalInstruction}) {
    const Error error = error_of(status);
    EXPECT_EQ(error.kind(), ErrorKind::kInternal) << status;
    EXPECT_THAT(error.what(), HasSubstr("a launch failed on the GPU, which is a bug of hone: ")) << status;
  }
}

TEST(Check, SaysThatADeviceIsLost) {
  for (const cudaError_t status :
       {cudaErrorECCUncorrectable, cudaErrorDevicesUnavailable, cudaErrorUnknown,
        cudaErrorNvlinkUncorrectable, cudaErrorSystemNotReady, cudaErrorContained}) {
    EXPECT_THROW(check(status, "a launch"), LostDevice) << status;
    const Error error = error_of(status);
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment) << status;
    EXPECT_THAT(error.what(), HasSubstr("a launch failed because the GPU is lost (")) << status;
  }
}

TEST(Check, GivesTheReasonOfEverythingElse) {
  Error error = error_of(cudaErrorNotSupported);
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_THAT(error.what(), HasSubstr("a launch failed on the GPU: operation not supported"));
  error = error_of(cudaErrorNoKernelImageForDevice);
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_THAT(error.what(), HasSubstr("no kernels for the GPU; configure it with -DHONE_CUDA_ARCHITECTURES"));
}

Error error_of_library(const char* reason, bool memory_full) {
  try {
    fail_library_call("a convolution", "cuDNN", reason, memory_full);
  } catch (const Error& error) {
    return error;
  }
}

TEST(LibraryCall, CallsAFullMemoryByItsName) {
  const Error error = error_of_library("CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED", true);
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_THAT(error.what(), HasSubstr("a convolution failed because the GPU's memory is full: "));
}

TEST(LibraryCall, GivesTheLibrarysReasonWhereTheRuntimeKnowsOfNothing) {
  const Error error = error_of_library("CUDNN_STATUS_NOT_SUPPORTED", false);
  EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
  EXPECT_STREQ(error.what(), "a convolution failed in cuDNN: CUDNN_STATUS_NOT_SUPPORTED");
}

TEST(DeviceBytes, HoldsNothingWhereThereIsNoMemory) {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess && count > 0) GTEST_SKIP() << "this machine has a GPU";
  GpuMemory memory(nullptr);
  EXPECT_THROW(DeviceBytes(memory, int64_t{1} << 20), Error);
  EXPECT_THROW(PinnedBytes(int64_t{1} << 20), Error);
  EXPECT_EQ(memory.held(), 0);
  EXPECT_EQ(memory.peak(), 0);
}

}  // namespace
}  // namespace hone::device::cuda
