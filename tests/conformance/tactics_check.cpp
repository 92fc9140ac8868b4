// Runs ONNX cases by every tactic that a device has for their steps, each variant of it, and compares with
// the expected outputs: a build runs the fastest ones alone.
//
// usage: tactics_check [--once] [--part K/N] [--without TACTIC]… DEVICE PRECISION RELATIVE ABSOLUTE FOLDER…
//
// In round k all steps run by their candidate k, in rotation, with images in each of the device's layouts, on
// memory that was poisoned before, and again, in runs that overlap too: outputs that move are a race. With
// --once each round runs once, for tools under which every launch is slow; --part 2/8 takes every eighth
// round, from the second on, so that eight processes share them; --without leaves a tactic out where a step
// has others: the same tools take minutes for a library's hundreds of kernels. Exit code 1 when a case fails,
// 4 without the device.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "backend/hone/hone_backend.hpp"
#include "base/error.hpp"
#include "bench/conformance/conformance.hpp"
#include "device/devices.hpp"
#include "engine/builder.hpp"
#include "engine/search/output_check.hpp"
#include "support/part.hpp"

namespace hone {
namespace {

constexpr int kFailed = 1;
constexpr int kNoDevice = 4;
constexpr int kRepeats = 2;

bool same_bytes(const tensor::Tensor& a, const tensor::Tensor& b) {
  return a.byte_size() == b.byte_size() && std::memcmp(a.bytes(), b.bytes(), a.byte_size()) == 0;
}

/// The tactic of a variant: cudnn+pool for "cudnn+pool:e3".
std::string tactic_of(const std::string& variant) { return variant.substr(0, variant.find(':')); }

/// A network whose steps run by the tactics of one round.
class Round final : public backend::Executable {
 public:
  Round(std::shared_ptr<engine::Engine> engine, std::unique_ptr<engine::Execution> program, bool overlapping,
        bool once)
      : engine_(std::move(engine)), program_(std::move(program)), overlapping_(overlapping), once_(once) {}

  std::vector<tensor::Tensor> run(std::span<const tensor::Tensor> inputs) override {
    if (once_) {
      program_->executor().poison();
      return program_->run(inputs);
    }
    const engine::OutputCheck check(engine_->precision(), inputs, overlapping_);
    std::vector<tensor::Tensor> outputs = check.run(*program_);
    for (int i = 0; i < kRepeats; ++i) {
      if (!std::ranges::equal(outputs, check.run(*program_), same_bytes))
        fail_internal("outputs move from run to run");
    }
    if (!std::ranges::equal(outputs, run_overlapped(), same_bytes))
      fail_internal("outputs of runs that overlap are others");
    return outputs;
  }

 private:
  /// The outputs of the second of two runs, which has inputs and outputs of its own.
  std::vector<tensor::Tensor> run_overlapped() {
    engine::Executor& executor = program_->executor();
    executor.poison();
    for (int i = 0; i < 2; ++i) executor.submit(/*transfers=*/true);
    executor.finish();
    return executor.download();
  }

  std::shared_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::Execution> program_;
  bool overlapping_;
  bool once_;
};

class RoundBackend final : public backend::Backend {
 public:
  RoundBackend(bool once, std::set<std::string> without) : once_(once), without_(std::move(without)) {}

  std::string_view name() const override { return "one round of tactics"; }
  std::string version(std::string_view) const override { return ""; }

  std::unique_ptr<backend::Executable> load(const importer::Model& model,
                                            const backend::LoadOptions& options) override {
    const engine::Device& device = device::find_device(options.device);
    backend::BuildRequest request = backend::request_of(options);
    request.optimization_level = 0;
    auto engine = backend::build(backend::resolve(request, model));
    engine::ProgramOptions choice{.policy = engine->policy(), .layout = layout_, .list_candidates = true};
    const auto listed = engine::build_program(engine->graph, device, engine->weights, choice);
    rounds_ = 1;
    for (const engine::ProgramStep& step : listed->steps()) {
      if (step.node < 0 || step.candidates.empty()) continue;
      const std::vector<engine::TacticId> candidates = wanted(step.candidates);
      rounds_ = std::max(rounds_, candidates.size());
      choice.plans[step.key()] = {candidates[round_ % candidates.size()], layout_, engine->policy()};
    }
    choice.list_candidates = false;
    auto program = engine::build_program(engine->graph, device, engine->weights, choice);
    ran_.clear();
    for (const engine::ProgramStep& step : program->steps()) {
      if (step.node >= 0) ran_.push_back(step.plan.tactic.text());
    }
    auto execution = std::make_unique<engine::Execution>(std::move(program), device);
    return std::make_unique<Round>(std::move(engine), std::move(execution), device.overlaps_steps(), once_);
  }

  void use(engine::Layout layout, size_t round) {
    layout_ = layout;
    round_ = round;
  }
  /// Rounds of the network that was loaded last.
  size_t rounds() const { return rounds_; }
  const std::vector<std::string>& ran() const { return ran_; }

 private:
  std::vector<engine::TacticId> wanted(const std::vector<engine::TacticId>& candidates) const {
    std::vector<engine::TacticId> left;
    std::ranges::copy_if(candidates, std::back_inserter(left), [&](const engine::TacticId& tactic) {
      return !without_.contains(tactic.name.substr(0, tactic.name.find('+')));
    });
    return left.empty() ? candidates : left;
  }

  bool once_;
  std::set<std::string> without_;
  engine::Layout layout_ = engine::Layout::kPlain;
  size_t round_ = 0;
  size_t rounds_ = 1;
  std::vector<std::string> ran_;
};

struct CheckOptions {
  bool once = false;
  Part part;  ///< of the rounds
  std::set<std::string> without;
};

/// A case by every tactic, with images in one layout.
class Check {
 public:
  Check(const bench::ConformanceOptions& options, const CheckOptions& check)
      : options_(options), backend_(check.once, check.without), once_(check.once), part_(check.part) {}

  void run(const bench::ConformanceCase& test, engine::Layout layout) {
    for (size_t round = part_.first; round == part_.first || round < backend_.rounds(); round += part_.of) {
      backend_.use(layout, round);
      const bench::CaseResult result = bench::run_case(test, backend_, options_);
      if (once_) report(test.name, layout, round);
      for (const std::string& tactic : backend_.ran()) seen_[tactic_of(tactic)].insert(tactic);
      if (result.status == bench::CaseStatus::kPassed) continue;
      ++failures_;
      fmt::print("{}, {}, round {}: {}{}; by {}\n", test.name, layout_name(layout), round, result.message,
                 result.reason, fmt::join(backend_.ran(), " "));
      if (result.status == bench::CaseStatus::kSkipped) break;
    }
  }

  size_t failures() const { return failures_; }
  /// Tactics, with those of their variants that ran.
  const std::map<std::string, std::set<std::string>>& seen() const { return seen_; }

 private:
  /// For a run that may be cut off.
  void report(std::string_view test, engine::Layout layout, size_t round) const {
    fmt::print("{}, {}: round {} of {}\n", test, layout_name(layout), round + 1, backend_.rounds());
    std::fflush(stdout);
  }

  const bench::ConformanceOptions& options_;
  RoundBackend backend_;
  bool once_;
  Part part_;
  size_t failures_ = 0;
  std::map<std::string, std::set<std::string>> seen_;
};

int check_all(const bench::ConformanceOptions& options, const CheckOptions& how,
              std::span<const std::filesystem::path> folders) {
  Check check(options, how);
  const auto cases = bench::find_cases(folders);
  for (const engine::Layout layout : device::find_device(options.device).image_layouts(options.precision)) {
    for (const bench::ConformanceCase& test : cases) check.run(test, layout);
  }
  for (const auto& [tactic, variants] : check.seen())
    fmt::print("{}: {} variants\n", tactic, variants.size());
  fmt::print("{} cases on {} in {}, {} failures\n", cases.size(), options.device,
             precision_name(options.precision), check.failures());
  return check.failures() == 0 ? 0 : kFailed;
}

Part part_of(const std::string& text) {
  const std::optional<Part> part = Part::parse(text);
  if (!part) fail_usage("--part takes K/N with K from 1 to N, not {}", text);
  return *part;
}

int main_of(int count, char** words) {
  std::vector<std::string> arguments(words + 1, words + count);
  CheckOptions how;
  size_t at = 0;
  for (; at < arguments.size() && arguments[at].starts_with("--"); ++at) {
    if (arguments[at] == "--once")
      how.once = true;
    else if (arguments[at] == "--part" && at + 1 < arguments.size())
      how.part = part_of(arguments[++at]);
    else if (arguments[at] == "--without" && at + 1 < arguments.size())
      how.without.insert(arguments[++at]);
    else
      fail_usage("there is no option {}", arguments[at]);
  }
  if (arguments.size() - at < 5)
    fail_usage(
        "tactics_check [--once] [--part K/N] [--without TACTIC]… DEVICE PRECISION RELATIVE ABSOLUTE FOLDER…");
  bench::ConformanceOptions options;
  options.device = arguments[at];
  options.precision = tensor::parse_precision(arguments[at + 1]);
  options.tolerance = {std::atof(arguments[at + 2].c_str()), std::atof(arguments[at + 3].c_str())};
  const std::vector<std::filesystem::path> folders(arguments.begin() + static_cast<ptrdiff_t>(at) + 4,
                                                   arguments.end());
  return check_all(options, how, folders);
}

}  // namespace
}  // namespace hone

int main(int count, char** words) {
  try {
    return hone::main_of(count, words);
  } catch (const hone::Error& error) {
    fmt::print(stderr, "tactics_check: {}\n", error.what());
    return error.kind() == hone::ErrorKind::kEnvironment ? hone::kNoDevice : hone::kFailed;
  }
}
