// See npy.hpp. Format: numpy's NEP 1 and the docstring of numpy.lib.format.
#include "tensor/npy.hpp"

#include <cstring>

#include "base/checked.hpp"
#include "base/file.hpp"
#include "tensor/npy_header.hpp"
#include "tensor/zip.hpp"

namespace hone::tensor {
namespace {

constexpr uint64_t kMaxArchiveBytes = uint64_t{1} << 32;
constexpr std::string_view kSuffix = ".npy";

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string member_name(const std::string& name) {
  return name.ends_with(kSuffix) ? name.substr(0, name.size() - kSuffix.size()) : name;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> bytes) {
  const NpyHeader header = parse_npy_header(text_of(bytes));
  const auto data = bytes.subspan(header.size);
  const int64_t wanted =
      base::checked_mul(element_count(header.shape), static_cast<int64_t>(dtype_size(header.dtype)));
  if (static_cast<uint64_t>(wanted) != data.size()) {
    fail_bad_input("the .npy header promises {} bytes ({} of {}), {} are there", wanted,
                   shape_text(header.shape), dtype_name(header.dtype), data.size());
  }
  Tensor tensor(header.dtype, header.shape);
  if (!data.empty()) std::memcpy(tensor.mutable_bytes(), data.data(), data.size());
  return tensor;
}

Tensor read_npy(const std::filesystem::path& file) {
  const base::MappedFile map(file);
  try {
    return parse_npy(map.bytes());
  } catch (const Error& error) {
    throw error.within(file.string());
  }
}

NamedTensors read_npz(const std::filesystem::path& file) {
  const base::MappedFile map(file);
  std::string place = file.string();
  try {
    NamedTensors tensors;
    for (const ZipMember& member : list_zip(map.bytes(), kMaxArchiveBytes)) {
      place = fmt::format("{}: {}", file.string(), member.name);
      const std::string content = unpack_zip_member(member);
      tensors.emplace_back(member_name(member.name), parse_npy(std::as_bytes(std::span(content))));
    }
    return tensors;
  } catch (const Error& error) {
    throw error.within(place);
  }
}

std::vector<std::string> npz_names(const std::filesystem::path& file) {
  const base::MappedFile map(file);
  std::vector<std::string> names;
  try {
    for (const ZipMember& member : list_zip(map.bytes(), kMaxArchiveBytes))
      names.push_back(member_name(member.name));
  } catch (const Error& error) {
    throw error.within(file.string());
  }
  return names;
}

std::string format_npy(const Tensor& tensor) {
  if (tensor.dtype() == DType::kBFloat16) return format_npy(tensor.cast(DType::kFloat32));
  std::string out = format_npy_header(tensor.dtype(), tensor.shape());
  out.append(reinterpret_cast<const char*>(tensor.bytes()), tensor.byte_size());
  return out;
}

void write_npy(const std::filesystem::path& file, const Tensor& tensor) {
  base::write_file_atomic(file, format_npy(tensor));
}

void write_npz(const std::filesystem::path& file, const NamedTensors& tensors) {
  std::vector<ZipContent> members;
  for (const auto& [name, tensor] : tensors) {
    members.push_back({name + std::string(kSuffix), format_npy(tensor)});
  }
  base::write_file_atomic(file, format_zip(members));
}

}  // namespace hone::tensor
