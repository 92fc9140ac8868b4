// The registry of importers.
#include <algorithm>
#include <fstream>
#include <system_error>

#include "base/error.hpp"
#include "base/file_kind.hpp"
#include "import/darknet/darknet.hpp"
#include "import/foreign_file.hpp"
#include "import/importer.hpp"
#include "import/onnx/import.hpp"
#include "import/torch/torchscript.hpp"
#include "import/zoo/zoo.hpp"

namespace hone::importer {
namespace {

constexpr std::string_view kOnnxFiles[] = {".onnx"};
constexpr std::string_view kDarknetFiles[] = {".cfg"};
constexpr std::string_view kTorchScriptFiles[] = {".pt", ".pth", ".ts"};

constexpr Importer kImporters[] = {
    {.kind = "built-in architecture",
     .names = architecture_names,
     .takes_weights = true,
     .load = load_architecture},
    {.kind = "ONNX", .suffixes = kOnnxFiles, .load = load_onnx},
    {.kind = "built-in darknet network",
     .names = darknet_names,
     .takes_weights = true,
     .has_sections = true,
     .load = load_built_in_darknet},
    {.kind = "darknet",
     .suffixes = kDarknetFiles,
     .takes_weights = true,
     .has_sections = true,
     .load = load_darknet},
    {.kind = "TorchScript", .suffixes = kTorchScriptFiles, .magic = "PK\3\4", .load = load_torchscript},
};

/// The first bytes of a regular file. Pipes are not read, because that would consume their data.
std::string head_of(const std::filesystem::path& file, size_t size) {
  if (!std::filesystem::is_regular_file(file)) return "";
  std::string head(size, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(head.data(), static_cast<std::streamsize>(size));
  head.resize(static_cast<size_t>(stream.gcount()));
  return head;
}

bool starts_as(const Importer& importer, const std::filesystem::path& file) {
  return !importer.magic.empty() && head_of(file, importer.magic.size()) == importer.magic;
}

}  // namespace

std::span<const Importer> importers() { return kImporters; }

const Importer& importer_of(const std::filesystem::path& file) {
  const std::string suffix = file.extension().string();
  for (const Importer& importer : kImporters) {
    if (std::ranges::find(importer.suffixes, suffix) != importer.suffixes.end()) return importer;
  }
  const std::string foreign = foreign_file(file);
  for (const Importer& importer : kImporters) {
    if (foreign.empty() && starts_as(importer, file)) return importer;
  }
  if (!foreign.empty()) throw Error(ErrorKind::kBadInput, foreign, file.string());
  std::error_code unknown;
  if (!std::filesystem::exists(file, unknown)) {
    const std::error_code missing = std::make_error_code(std::errc::no_such_file_or_directory);
    throw Error(ErrorKind::kBadInput, fmt::format("cannot open the file: {}", missing.message()),
                file.string());
  }
  const std::string head = head_of(file, 512);
  const std::string_view kind = base::seeming_kind(head);
  throw Error(
      ErrorKind::kBadInput,
      fmt::format("this is {} that hone reads: {}; bench, profile, run and inspect take engines (.hone), too",
                  kind.empty() ? "no model" : fmt::format("{}, not a model", kind), file_kinds()),
      file.string());
}

std::string file_kinds() {
  std::string text;
  for (const Importer& importer : kImporters) {
    if (importer.suffixes.empty()) continue;
    text +=
        fmt::format("{}{} ({})", text.empty() ? "" : ", ", importer.kind, fmt::join(importer.suffixes, ", "));
  }
  return text;
}

}  // namespace hone::importer
