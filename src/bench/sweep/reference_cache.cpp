// See reference_cache.hpp. A file contains one line of JSON (types and shapes), then the values.
#include "bench/sweep/reference_cache.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/plugin.hpp"
#include "base/version.hpp"
#include "bench/worker/protocol.hpp"

namespace hone::bench {
namespace {

using tensor::Tensor;

/// Changes whenever the reference kernels may have changed.
uint64_t build_stamp() {
  std::error_code error;
  const std::filesystem::path library = std::filesystem::path(base::library_folder()) / "libhone.so";
  const auto time = std::filesystem::last_write_time(library, error);
  return error ? 0 : static_cast<uint64_t>(time.time_since_epoch().count());
}

std::vector<std::vector<Tensor>> parse_cache(const std::string& content) {
  const size_t end = std::min(content.find('\n'), content.size());
  const Json header = Json::parse(content.substr(0, end), nullptr, false);
  size_t at = end + 1;
  std::vector<std::vector<Tensor>> outputs;
  for (const Json& unit : member<Json>(header, "units")) {
    std::vector<Tensor>& tensors = outputs.emplace_back();
    for (const Json& item : unit) {
      Tensor tensor(parse_dtype(member<std::string>(item, "dtype")), member<tensor::Shape>(item, "shape"));
      if (at > content.size() || content.size() - at < tensor.byte_size())
        fail_bad_input("the file is cut off");
      std::copy_n(reinterpret_cast<const std::byte*>(content.data() + at), tensor.byte_size(),
                  tensor.mutable_bytes());
      at += tensor.byte_size();
      tensors.push_back(std::move(tensor));
    }
  }
  if (outputs.empty() || at != content.size()) fail_bad_input("the file has another length");
  return outputs;
}

}  // namespace

std::filesystem::path reference_cache_file(uint64_t outputs_hash) {
  const std::filesystem::path folder = base::cache_directory();
  if (folder.empty()) return {};
  return folder / "reference" /
         fmt::format("{:016x}-{}-{:x}.bin", outputs_hash, base::version(), build_stamp());
}

std::optional<std::vector<std::vector<Tensor>>> read_reference_cache(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    return parse_cache(base::read_file(file));
  } catch (const Error&) {
    return std::nullopt;
  }
}

void write_reference_cache(const std::filesystem::path& file,
                           const std::vector<std::vector<Tensor>>& outputs) {
  if (file.empty()) return;
  Json units = Json::array();
  std::vector<std::string_view> parts(1);
  for (const auto& unit : outputs) {
    Json items = Json::array();
    for (const Tensor& tensor : unit) {
      items.push_back({{"dtype", tensor::dtype_name(tensor.dtype())}, {"shape", tensor.shape()}});
      parts.emplace_back(reinterpret_cast<const char*>(tensor.bytes()), tensor.byte_size());
    }
    units.push_back(std::move(items));
  }
  const std::string header = Json{{"units", std::move(units)}}.dump() + "\n";
  parts.front() = header;
  try {
    std::filesystem::create_directories(file.parent_path());
    base::write_file_atomic(file, parts);
  } catch (const Error&) {
  } catch (const std::filesystem::filesystem_error&) {
  }
}

}  // namespace hone::bench
