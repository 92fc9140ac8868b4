// A darknet weights file: a header, then float32 numbers in the order of the sections, without names or
// sizes.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "import/darknet/network.hpp"

namespace hone::importer::darknet {

struct WeightsHeader {
  int32_t major = 0;
  int32_t minor = 0;
  size_t bytes = 0;
  /// True if the weights of [connected] are stored as [inputs][outputs].
  bool transposed() const { return major > 1000 || minor > 1000; }
};

/// Throws bad input if the file is not a weights file, or is too short for a header.
WeightsHeader read_header(std::span<const std::byte> file);

/// The numbers after the header for all layers of the network, in their order, as views of `file`, which
/// `owner` keeps alive. The size is checked before anything is read: a file that is too short is bad input,
/// and the message says how many layers fit; a file that is too long causes a warning. Numbers that are not
/// finite, and variances without a square root, are bad input when their parameter is read.
std::unique_ptr<WeightSource> weights_of(std::span<const std::byte> file, const Network& network,
                                         const std::shared_ptr<const void>& owner,
                                         std::vector<std::string>* warnings);

/// Throws bad input if the parameters of the network exceed the memory limit.
void check_memory(const Network& network);

}  // namespace hone::importer::darknet
