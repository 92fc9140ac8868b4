// See load.hpp.
#include "import/load.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/file.hpp"
#include "import/onnx/import.hpp"
#include "import/zoo/architectures.hpp"
#include "import/zoo/zoo.hpp"
#include "tensor/zip.hpp"

namespace hone::importer {
namespace {

/// Levenshtein distance.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

[[noreturn]] void fail_unknown(const std::string& name) {
  const std::vector<std::string> names = architecture_names();
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  const bool likely = edit_distance(name, *nearest) <= 3;
  fail_usage(
      "'{}' is neither a file (.onnx, .pt; for run and inspect .hone as well) nor a built-in architecture "
      "({}){}",
      name, fmt::join(names, ", "), likely ? fmt::format("; did you mean {}?", *nearest) : "");
}

/// Nothing is ever unpacked into files, but a name that would lead out of a folder is a forgery.
void check_record_name(const std::string& name) {
  if (name.starts_with('/') || ("/" + name + "/").find("/../") != std::string::npos ||
      name.find_first_of(std::string_view("\\\0", 2)) != std::string::npos) {
    fail_bad_input("its record '{}' has a name that leads out of the archive", name);
  }
}

/// A TorchScript archive is a zip file; libtorch reads it later, and trusts it further than we do: sizes,
/// checksums and what the records unpack to are checked here. Anything else, an old pickle above all, is
/// refused.
void check_torchscript(const std::filesystem::path& file) {
  const base::MappedFile map(file);
  const auto bytes = map.bytes();
  const auto fail = [&](std::string_view why) {
    throw Error(ErrorKind::kBadInput,
                fmt::format("this is not a TorchScript archive (torch.jit.save makes one){}", why),
                file.string());
  };
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "PK\3\4", 4) != 0) fail("");
  // Only code is compressed.
  constexpr uint64_t kMaxCode = uint64_t{64} << 20;
  bool pickle = false;
  try {
    for (const tensor::ZipMember& member : tensor::list_zip(bytes, bytes.size() + kMaxCode)) {
      check_record_name(member.name);
      tensor::check_zip_member(member);
      pickle = pickle || member.name.ends_with("/data.pkl");
    }
  } catch (const Error& error) {
    fail(": " + error.sentence());
  }
  if (!pickle) fail(": it has no record data.pkl");
}

Model load_file(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file))
    throw Error(ErrorKind::kBadInput, "it is a directory", file.string());
  const std::string extension = file.extension().string();
  if (extension == ".onnx") {
    Model model{file.stem().string(), file, nullptr, {}};
    model.graph = std::make_shared<graph::Graph>(import_onnx(file, &model.metadata));
    return model;
  }
  if (extension == ".pt" || extension == ".pth" || extension == ".ts") {
    check_torchscript(file);
    return {file.stem().string(), file, nullptr, {}};
  }
  throw Error(ErrorKind::kBadInput,
              "the file's name ends neither in .onnx nor in .pt (run and inspect take .hone as well)",
              file.string());
}

}  // namespace

Model load_model(const std::string& name_or_path, const LoadModelOptions& options) {
  if (auto graph = build_architecture(name_or_path, options)) {
    return {name_or_path, {}, std::make_shared<graph::Graph>(std::move(*graph)), preprocessing_metadata()};
  }
  const std::filesystem::path file(name_or_path);
  if (!file.has_extension() && !file.has_parent_path() && !std::filesystem::exists(file)) {
    fail_unknown(name_or_path);
  }
  if (!options.weights.empty()) {
    fail_usage("--weights goes with a built-in architecture; {} brings its own", name_or_path);
  }
  return load_file(file);
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const ArchitectureEntry& entry : architectures()) names.emplace_back(entry.name);
  return names;
}

}  // namespace hone::importer
