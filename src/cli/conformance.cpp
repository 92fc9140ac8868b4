// `hone conformance`: runs folders of ONNX test cases on a backend and counts those that passed, failed or
// were skipped, with reasons.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>

#include "backend/backend.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "bench/conformance/case_runner.hpp"
#include "cli/command.hpp"
#include "cli/engine_options.hpp"
#include "cli/option_checks.hpp"

namespace hone::cli {
namespace {

using bench::CaseResult;
using bench::CaseStatus;

constexpr double kMostTolerance = 1e6;

struct Options {
  std::vector<std::filesystem::path> folders;
  bench::RunnerOptions runner;
  std::string precision = "fp32";
  std::string filter;
  std::string json_file;
  bool verbose = false;
};

std::vector<bench::ConformanceCase> selected_cases(const Options& options) {
  auto cases = bench::find_cases(options.folders);
  if (options.filter.empty()) return cases;
  try {
    const std::regex pattern(options.filter);
    std::erase_if(cases, [&](const auto& test) { return !std::regex_search(test.name, pattern); });
  } catch (const std::regex_error& error) {
    fail_usage("--filter '{}' is not a regular expression: {}", options.filter, error.what());
  }
  if (cases.empty()) fail_usage("no case matches --filter '{}'", options.filter);
  return cases;
}

void print_result(const CaseResult& result, bool verbose) {
  if (result.status == CaseStatus::kFailed) fmt::print("failed   {}: {}\n", result.name, result.message);
  if (!verbose) return;
  if (result.status == CaseStatus::kSkipped) fmt::print("skipped  {}: {}\n", result.name, result.reason);
  if (result.status == CaseStatus::kPassed) fmt::print("passed   {}\n", result.name);
}

struct Summary {
  int64_t passed = 0;
  int64_t failed = 0;
  std::map<std::string, int64_t> skipped;

  explicit Summary(const std::vector<CaseResult>& results) {
    for (const CaseResult& result : results) {
      passed += result.status == CaseStatus::kPassed;
      failed += result.status == CaseStatus::kFailed;
      if (result.status == CaseStatus::kSkipped) ++skipped[result.reason];
    }
  }
  int64_t skipped_total() const {
    int64_t total = 0;
    for (const auto& [reason, count] : skipped) total += count;
    return total;
  }
};

void print_summary(const Summary& summary, const std::string& backend) {
  fmt::print("{}: {} passed, {} failed, {} skipped", backend, summary.passed, summary.failed,
             summary.skipped_total());
  const char* separator = " (";
  for (const auto& [reason, count] : summary.skipped) {
    fmt::print("{}{} {}", separator, reason, count);
    separator = ", ";
  }
  fmt::print("{}\n", summary.skipped.empty() ? "" : ")");
}

void write_json(const Options& options, const Summary& summary, const std::vector<CaseResult>& results) {
  Json json;
  json["backend"] = options.runner.backend;
  json["device"] = options.runner.conformance.device;
  json["precision"] = options.precision;
  json["tolerance"] = {{"relative", options.runner.conformance.tolerance.relative},
                       {"absolute", options.runner.conformance.tolerance.absolute}};
  json["passed"] = summary.passed;
  json["failed"] = summary.failed;
  json["skipped"] = summary.skipped;
  for (const CaseResult& result : results) {
    Json row = {{"name", result.name}, {"status", bench::status_name(result.status)}};
    if (!result.reason.empty()) row["reason"] = result.reason;
    if (!result.message.empty()) row["message"] = result.message;
    json["cases"].push_back(std::move(row));
  }
  base::write_file_atomic(options.json_file, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// Refuses to overwrite a model or tensor of the cases. Other files are allowed, because the results of an
/// earlier run may be in the same folder.
void refuse_overwriting_cases(const std::filesystem::path& output,
                              const std::vector<std::filesystem::path>& folders) {
  if (!std::filesystem::exists(output)) return;
  for (const std::filesystem::path& folder : folders) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".onnx" || extension == ".pb") refuse_overwriting(output, {entry.path().string()});
    }
  }
}

void run(const Options& options) {
  if (!options.json_file.empty()) base::check_writable(options.json_file);
  const auto cases = selected_cases(options);
  if (!options.json_file.empty()) refuse_overwriting_cases(options.json_file, options.folders);
  const auto results = bench::run_cases(cases, options.runner, [&](const CaseResult& result) {
    print_result(result, options.verbose);
    std::fflush(stdout);
  });
  const Summary summary(results);
  print_summary(summary, options.runner.backend);
  if (!options.json_file.empty()) write_json(options, summary, results);
  if (summary.failed > 0) {
    throw Error(ErrorKind::kThreshold, fmt::format("{} conformance cases failed", summary.failed));
  }
}

}  // namespace

void add_conformance_command(CLI::App& program) {
  CLI::App* command = program.add_subcommand("conformance", "Run ONNX test cases on a backend");
  const auto options = std::make_shared<Options>();
  command->add_option("folder", options->folders, "Folders with cases, at any depth")->required();
  command->add_option("--backend", options->runner.backend, "The backend to test")->capture_default_str();
  add_device_option(*command, options->runner.conformance.device);
  command
      ->add_option("--precision", options->precision,
                   "fp32 or bf16; on cuda also tf32 and fp16. Inputs are rounded to it, and outputs compared "
                   "with the reference")
      ->capture_default_str();
  command->add_option("--filter", options->filter,
                      "Run only cases whose names match this regular expression");
  command->add_option("--rtol", options->runner.conformance.tolerance.relative, "Relative tolerance")
      ->check(finite_range(0, kMostTolerance))
      ->capture_default_str();
  command->add_option("--atol", options->runner.conformance.tolerance.absolute, "Absolute tolerance")
      ->check(finite_range(0, kMostTolerance))
      ->capture_default_str();
  command->add_option("--timeout", options->runner.timeout_seconds, "Seconds that one case may take")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--json", options->json_file, "Write all results to this JSON file");
  command->add_flag("--verbose", options->verbose, "Print passed and skipped cases too");
  command->callback([options] {
    options->runner.conformance.precision = backend::parse_precision(options->precision);
    if (options->runner.conformance.precision == tensor::Precision::kInt8)
      fail_usage("int8 needs ranges, and the cases have no data to calibrate with");
    run(*options);
  });
}

}  // namespace hone::cli
