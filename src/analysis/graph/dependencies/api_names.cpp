// See api_names.hpp.
#include "analysis/graph/dependencies/api_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace hone::analysis::dependencies {
namespace {

constexpr std::array kSynchronize = {
    "cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
    "cuCtxSynchronize",      "cuStreamSynchronize",   "cuEventSynchronize"};
constexpr std::array kQuery = {"cudaEventQuery", "cudaStreamQuery", "cuEventQuery", "cuStreamQuery"};
constexpr std::array kImplicit = {"cudaFree",
                                  "cudaFreeArray",
                                  "cudaFreeHost",
                                  "cudaHostUnregister",
                                  "cudaMalloc",
                                  "cudaMallocArray",
                                  "cudaMallocHost",
                                  "cudaMallocManaged",
                                  "cudaMallocPitch",
                                  "cudaMalloc3D",
                                  "cudaHostAlloc",
                                  "cudaHostRegister",
                                  "cudaDeviceReset",
                                  "cudaThreadExit",
                                  "cuMemFree",
                                  "cuMemFreeHost",
                                  "cuMemHostUnregister",
                                  "cuMemAlloc",
                                  "cuMemAllocPitch",
                                  "cuMemAllocManaged",
                                  "cuMemAllocHost",
                                  "cuMemHostAlloc",
                                  "cuMemHostRegister",
                                  "cuModuleUnload",
                                  "cuLibraryUnload",
                                  "cuCtxDestroy",
                                  "cuDevicePrimaryCtxRelease",
                                  "cuDevicePrimaryCtxReset"};

bool ends_with_version(std::string_view name, size_t underscore) {
  return underscore + 2 < name.size() && name[underscore + 1] == 'v' &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(underscore) + 2, name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string_view without_suffixes(std::string_view name) {
  for (size_t at = name.rfind('_'); at != std::string_view::npos; at = name.rfind('_')) {
    const std::string_view suffix = name.substr(at);
    if (suffix != "_ptsz" && suffix != "_ptds" && !ends_with_version(name, at)) break;
    name = name.substr(0, at);
  }
  return name;
}

template <class Names>
bool is_one_of(std::string_view name, const Names& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Converts to lower case and removes blanks and underscores, so that the spellings of all recorders are
/// equal.
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

}  // namespace

ApiRole api_role(std::string_view name) {
  const std::string_view plain = without_suffixes(name);
  if (is_one_of(plain, kSynchronize)) return ApiRole::kSynchronize;
  if (is_one_of(plain, kQuery)) return ApiRole::kQuery;
  return is_one_of(plain, kImplicit) ? ApiRole::kImplicit : ApiRole::kOther;
}

bool is_queue_full(std::string_view overhead) {
  return letters_of(overhead).find("commandbufferfull") != std::string::npos;
}

bool is_profiler_overhead(std::string_view overhead) {
  constexpr std::array kDriver = {"commandbufferfull", "loading", "compiler", "uvm"};
  const std::string letters = letters_of(overhead);
  return std::none_of(kDriver.begin(), kDriver.end(),
                      [&](const char* part) { return letters.find(part) != std::string::npos; });
}

std::vector<ApiRole> roles_of_calls(const EventGraph& graph) {
  constexpr uint8_t kUnseen = 255;
  std::vector<uint8_t> by_name(graph.trace->strings.size(), kUnseen);
  std::vector<ApiRole> roles;
  roles.reserve(graph.calls.size());
  for (size_t i = 0; i < graph.calls.size(); ++i) {
    const StringId name = graph.call_name(static_cast<int32_t>(i));
    if (by_name[name] == kUnseen) by_name[name] = static_cast<uint8_t>(api_role(graph.trace->text(name)));
    roles.push_back(static_cast<ApiRole>(by_name[name]));
  }
  return roles;
}

}  // namespace hone::analysis::dependencies
