// See host_functions.hpp.
#include "engine/program/host_functions.hpp"

#include <map>

namespace hone::engine {
namespace {

std::map<std::string, HostFunction, std::less<>>& table() {
  static std::map<std::string, HostFunction, std::less<>> functions;
  return functions;
}

}  // namespace

HostFunction find_host_function(std::string_view op) {
  const auto found = table().find(op);
  return found == table().end() ? nullptr : found->second;
}

HostFunctions::HostFunctions(const std::vector<Entry>& entries) {
  for (const Entry& entry : entries) table()[entry.op] = entry.function;
}

}  // namespace hone::engine
