// See detect_backends.hpp.
#include "cli/detect_backends.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string_view>

#include "backend/registry.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "report/terminal/sheet.hpp"
#include "system/interruption.hpp"
#include "system/process.hpp"
#include "system/scratch.hpp"
#include "task/pipeline_report.hpp"

namespace hone::cli {
namespace {

namespace fs = std::filesystem;

/// Result of one backend, or the reason why there is none.
struct Row {
  std::string backend;
  std::optional<Json> stats;
  std::string failure;
  std::optional<int> exit_code;
};

/// True for options that this file sets itself for each run.
bool is_own(const CLI::Option& option) {
  constexpr std::array<std::string_view, 5> kOwn{"--backends", "--backend", "--output", "--stats", "--help"};
  return std::find(kOwn.begin(), kOwn.end(), option.get_name()) != kOwn.end();
}

/// Reconstructs the words of the user's command line that each run shares.
std::vector<std::string> given_words(const CLI::App& command) {
  std::vector<std::string> positional;
  std::vector<std::string> options;
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0 || is_own(*option)) continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    for (const std::string& value : option->results()) {
      if (option->get_positional()) {
        positional.push_back(value);
        continue;
      }
      options.push_back(option->get_name());
      if (!is_flag) options.push_back(value);
    }
  }
  options.insert(options.begin(), positional.begin(), positional.end());
  return options;
}

/// Returns the last line that the program wrote to standard error, without the prefix "hone: ".
std::string reason_of(system::Process* process) {
  const std::string end = process->describe_end();
  std::string said = process->last_error_line();
  constexpr std::string_view kName = "hone: ";
  if (said.starts_with(kName)) said.erase(0, kName.size());
  return said.empty() || process->crashed() ? end : said;
}

Row run_backend(const CLI::App& command, const BackendsRequest& request, const std::string& backend) {
  const system::Scratch scratch;
  const fs::path stats = scratch.folder() / "stats.json";
  std::vector<std::string> words{fs::canonical("/proc/self/exe").string(), "detect"};
  for (std::string& word : given_words(command)) words.push_back(std::move(word));
  words.insert(words.end(), {"--backend", backend, "--stats", stats.string()});
  // Other systems run one batch at a time, so hone gets one stream too, unless the user asked for more.
  if (command.count("--infStreams") == 0) words.insert(words.end(), {"--infStreams", "1"});
  for (const std::string& output : request.outputs)
    words.insert(words.end(), {"-o", output_of(output, backend).string()});
  if (request.outputs.empty()) words.insert(words.end(), {"-o", (scratch.folder() / "found.jsonl").string()});
  system::Process process(words, scratch.folder() / "errors", nullptr);
  const auto never = base::Clock::now() + std::chrono::hours(24 * 365);
  for (std::string line; process.read_line(&line, never) == system::Process::ReadResult::kLine;) continue;
  Row row{backend, std::nullopt, reason_of(&process), process.exit_code()};
  // With --strict, a run that lost frames fails after it has written its table.
  const bool is_whole = process.succeeded() || row.exit_code == static_cast<int>(ErrorKind::kThreshold);
  if (!is_whole || !fs::exists(stats)) return row;
  row.failure.clear();
  row.stats = Json::parse(base::read_file(stats));
  return row;
}

Json json_of(const std::vector<Row>& rows) {
  Json json = {
      {"schema", task::kPipelinesSchema}, {"version", task::kPipelineVersion}, {"rows", Json::array()}};
  for (const Row& row : rows) {
    Json one = {{"backend", row.backend}};
    if (row.stats) one["pipeline"] = *row.stats;
    if (!row.stats) one["failure"] = row.failure;
    json["rows"].push_back(std::move(one));
  }
  return json;
}

void print_table(const std::vector<Row>& rows) {
  const bool judged = std::any_of(
      rows.begin(), rows.end(), [](const Row& row) { return row.stats && row.stats->contains("accuracy"); });
  fmt::print("{:<20} {:<12} {:<12} {:>13} {:>14} {:>9}{}  {}\n", "model", "backend", "input size",
             "inference FPS", "end-to-end FPS", "of bound", judged ? "  mAP@0.5" : "", "bounded by");
  for (const Row& row : rows) {
    if (!row.stats) {
      fmt::print("{:<20} {:<12} {}\n", "-", row.backend, report::printable(row.failure));
      continue;
    }
    const Json& stats = *row.stats;
    const auto number = [&](const char* key) { return stats.at(key).get<double>(); };
    const std::string model = fs::path(stats.at("model").get<std::string>()).stem().string();
    const std::string size = fmt::format("{} x {}", stats.at("input_width").get<int64_t>(),
                                         stats.at("input_height").get<int64_t>());
    const std::string share =
        number("bound") > 0 ? fmt::format("{:.0f} %", 100 * number("end_to_end_fps") / number("bound")) : "-";
    const std::string accuracy =
        judged ? fmt::format("  {:>7.4f}", stats.at("accuracy").at("map50").get<double>()) : "";
    fmt::print("{:<20} {:<12} {:<12} {:>13.2f} {:>14.2f} {:>9}{}  {}\n", report::printable(model),
               row.backend, size, number("inference_fps"), number("end_to_end_fps"), share, accuracy,
               stats.at("bounded_by").get<std::string>());
  }
}

/// If all backends failed in the same way, such as for an input that is missing, that is the kind of the
/// error.
void require_any(const std::vector<Row>& rows) {
  const Row& first = rows.front();
  const auto is_alike = [&](const Row& row) { return row.exit_code == first.exit_code; };
  if (std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.stats.has_value(); })) return;
  const bool alike = first.exit_code && std::all_of(rows.begin(), rows.end(), is_alike);
  const auto kind = alike ? static_cast<ErrorKind>(*first.exit_code) : ErrorKind::kEnvironment;
  throw Error(kind, fmt::format("no backend could run it: {}", first.failure));
}

/// The losses of all runs, each once.
std::vector<std::string> losses_of(const std::vector<Row>& rows) {
  std::vector<std::string> all;
  for (const Row& row : rows) {
    if (!row.stats) continue;
    for (const std::string& loss : row.stats->at("losses").get<std::vector<std::string>>())
      if (std::find(all.begin(), all.end(), loss) == all.end()) all.push_back(loss);
  }
  return all;
}

}  // namespace

fs::path output_of(const fs::path& output, const std::string& backend) {
  // Names such as "partition:p.json" contain characters that a file name should not have.
  std::string part = backend;
  std::replace_if(
      part.begin(), part.end(), [](char c) { return c == '/' || c == ':'; }, '-');
  fs::path name = output;
  name.replace_extension("." + part + output.extension().string());
  return name;
}

std::vector<std::string> detect_with_backends(const CLI::App& command, const BackendsRequest& request) {
  for (const std::string& backend : request.backends) backend::require_backend(backend);
  std::vector<Row> rows;
  bool interrupted = false;
  const system::Interruptible interruptible;
  for (const std::string& backend : request.backends) {
    fmt::print(stderr, "note: {} of {}: {}\n", rows.size() + 1, request.backends.size(), backend);
    try {
      rows.push_back(run_backend(command, request, backend));
    } catch (const system::Interrupted&) {
      interrupted = true;
      break;
    }
  }
  print_table(rows);
  if (!request.stats.empty())
    base::write_file_atomic(request.stats,
                            json_of(rows).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  if (interrupted) throw system::Interrupted{};
  require_any(rows);
  return losses_of(rows);
}

}  // namespace hone::cli
