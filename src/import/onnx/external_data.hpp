// Weights in separate files next to the model. The names come from the model, so a file is opened
// relative to the model's folder and must be inside it, also after links are followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace hone::importer {

/// A range of a mapped file, and the owner that keeps it mapped.
struct ExternalBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};

class ExternalFolder {
 public:
  /// An empty folder refuses everything. The folder itself may be reached through links.
  explicit ExternalFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `length` bytes from `offset` on (to the end if absent). Throws bad input if the location is outside the
  /// folder, is not a regular file, has several names (hard links), or has fewer bytes.
  ExternalBytes map(const std::string& location, uint64_t offset, std::optional<uint64_t> length);

 private:
  struct Mapping;
  std::shared_ptr<const Mapping> open(const std::string& location) const;

  std::filesystem::path folder_;
  std::map<std::string, std::shared_ptr<const Mapping>> files_;
};

}  // namespace hone::importer
