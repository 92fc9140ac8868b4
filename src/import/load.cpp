// Asks the registry which importer a name or a path belongs to.
#include "import/load.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "import/foreign_file.hpp"
#include "import/importer.hpp"

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

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Importer& importer : importers()) {
    if (importer.names != nullptr) std::ranges::copy(importer.names(), std::back_inserter(names));
  }
  return names;
}

/// Edits that turn one into the other; none where what is meant is only shortened.
size_t distance_to(std::string_view name, std::string_view known) {
  constexpr size_t kShortest = 4;
  if (name.size() >= kShortest && known.starts_with(name)) return 0;
  return edit_distance(name, known);
}

[[noreturn]] void fail_unknown(const std::string& name) {
  const std::vector<std::string> names = all_names();
  const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
    return distance_to(name, a) < distance_to(name, b);
  });
  // Words of four letters are three edits apart whatever they mean.
  const bool likely = distance_to(name, *nearest) <= std::min<size_t>(3, name.size() / 3);
  fail_usage("'{}' is neither a file, {}, nor a built-in architecture ({}){}", name, file_kinds(),
             fmt::join(names, ", "), likely ? fmt::format("; did you mean {}?", *nearest) : "");
}

/// The importer that has a model of this name; null where none has.
const Importer* importer_with(const std::string& name) {
  for (const Importer& importer : importers()) {
    if (importer.names == nullptr) continue;
    const std::vector<std::string> names = importer.names();
    if (std::ranges::find(names, name) != names.end()) return &importer;
  }
  return nullptr;
}

}  // namespace

Model load_model(const std::string& name_or_path, const LoadModelOptions& options) {
  if (const Importer* importer = importer_with(name_or_path)) return importer->load(name_or_path, options);
  const std::filesystem::path file(name_or_path);
  if (!file.has_extension() && !file.has_parent_path() && !std::filesystem::exists(file))
    fail_unknown(name_or_path);
  if (std::filesystem::is_directory(file)) {
    const std::string foreign = foreign_file(file);
    throw Error(ErrorKind::kBadInput, foreign.empty() ? "it is a directory" : foreign, file.string());
  }
  const Importer& importer = importer_of(file);
  if (!options.weights.empty() && !importer.takes_weights)
    fail_usage("--weights goes with a built-in architecture; {} brings its own", name_or_path);
  return importer.load(name_or_path, options);
}

}  // namespace hone::importer
