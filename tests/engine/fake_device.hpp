// A device for tests of the tactic search: the CPU's, but for Relu, whose tactics a test makes up.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/out_of_memory.hpp"
#include "device/cpu/cpu_device.hpp"
#include "engine/kernel.hpp"
#include "engine/program/program.hpp"

namespace hone::engine {

/// Relu on plain float32, which takes as long as a test says: that is what the device reports, whatever the
/// machine is busy with.
class FakeTactic final : public Tactic {
 public:
  static constexpr double kRefuses = -1;

  struct Behaviour {
    double delay_us = 0;
    /// Costs the network this much, but does not show in the step's own time.
    double hidden_us = 0;
    /// The step behind it takes longer by this much.
    double delays_next_us = 0;
    /// Starts early: each step of the tactic after the first saves the network this much.
    double saves_together_us = 0;
    /// The step of this name takes longer by slow_us.
    std::string slow_node;
    double slow_us = 0;
    /// A right Relu has 1.
    float scale = 1;
    /// Writes its output when a kernel of it runs for the first time, and relies on what is there afterwards.
    bool writes_once = false;
    /// Finds no memory whenever it runs, or runs the step of this name.
    bool does_not_fit = false;
    std::string does_not_fit_in = "";
    /// The device is gone from this run on of a kernel of it.
    int lost_in_run = std::numeric_limits<int>::max();
    /// Right in one step of a network, wrong in two (as a race may be).
    bool wrong_in_two_steps = false;
    /// Wants a form of a constant that is not stored.
    bool misses_form = false;
    /// Names, best guess first, and their delays or kRefuses.
    std::vector<std::pair<std::string, double>> variants;
    /// The last variant is named in exhaustive searches alone.
    bool hides_last = false;
  };

  FakeTactic(std::string named, Behaviour behaviour) : behaviour_(std::move(behaviour)) {
    name = std::move(named);
    starts_early = behaviour_.saves_together_us > 0;
    make = [this](const StepRequest& request, WeightStore&) { return make_relu(request, ""); };
    list_variants = [this](const StepRequest& request) {
      std::vector<std::string> names;
      for (const auto& [variant, delay] : behaviour_.variants) names.push_back(variant);
      if (behaviour_.hides_last && !request.exhaustive) names.pop_back();
      return names;
    };
    make_variant = [this](const StepRequest& request, WeightStore&, std::string_view wanted) {
      for (const auto& [variant, delay] : behaviour_.variants) {
        if (variant != wanted) continue;
        return delay == kRefuses ? Offer::refuse("this variant never runs") : make_relu(request, variant);
      }
      return Offer::refuse(fmt::format("there is no variant '{}'", wanted));
    };
  }
  FakeTactic(const FakeTactic&) = delete;
  FakeTactic& operator=(const FakeTactic&) = delete;

  /// The time of a step of this name by the tactic `used`; nullopt when that is another one.
  std::optional<double> step_us(const TacticId& used, const std::string& node) const {
    if (used.name != name) return std::nullopt;
    double time = behaviour_.delay_us;
    if (!used.variant.empty()) {
      const auto found = std::find_if(behaviour_.variants.begin(), behaviour_.variants.end(),
                                      [&](const auto& variant) { return used.variant == variant.first; });
      if (found == behaviour_.variants.end()) return std::nullopt;
      time = found->second;
    }
    return node == behaviour_.slow_node ? time + behaviour_.slow_us : time;
  }
  double hidden_us() const { return behaviour_.hidden_us; }
  double delays_next_us() const { return behaviour_.delays_next_us; }
  double saves_together_us() const { return behaviour_.saves_together_us; }
  bool wrong_in_two_steps() const { return behaviour_.wrong_in_two_steps; }
  /// Variants (or "") whose kernels ran since forget().
  const std::set<std::string>& ran() const { return ran_; }
  /// Runs of its kernels, since it was made.
  int runs() const { return runs_; }
  void forget() const { ran_.clear(); }

 private:
  class ReluKernel final : public Kernel {
   public:
    ReluKernel(const FakeTactic& tactic, std::string variant, const std::string& node, int64_t count)
        : tactic_(tactic),
          variant_(std::move(variant)),
          fits_(!tactic.behaviour_.does_not_fit && node != tactic.behaviour_.does_not_fit_in),
          count_(count) {}

    void run(const Run& run) const override {
      if (!fits_) throw OutOfMemory(ErrorKind::kEnvironment, "the device has no room for it");
      if (++tactic_.runs_ >= tactic_.behaviour_.lost_in_run) throw LostDevice("the device is lost");
      const auto* x = static_cast<const float*>(run.inputs[0]);
      auto* y = static_cast<float*>(run.outputs[0]);
      if (!tactic_.behaviour_.writes_once || !written_) {
        for (int64_t i = 0; i < count_; ++i) y[i] = x[i] > 0 ? x[i] * tactic_.behaviour_.scale : 0;
      }
      written_ = true;
      tactic_.ran_.insert(variant_);
    }

   private:
    const FakeTactic& tactic_;
    std::string variant_;
    bool fits_;
    int64_t count_;
    mutable bool written_ = false;
  };

  Offer make_relu(const StepRequest& request, const std::string& variant) const {
    if (behaviour_.misses_form) throw MissingForm({"w", "packed"});
    Offer offer;
    offer.inputs = {{DType::kFloat32, request.inputs[0].shape, Layout::kPlain}};
    offer.outputs = request.outputs;
    offer.kernel = std::make_shared<ReluKernel>(*this, variant, request.node.name,
                                                tensor::element_count(request.inputs[0].shape));
    return offer;
  }

  Behaviour behaviour_;
  mutable std::set<std::string> ran_;
  mutable int runs_ = 0;
};

/// Forwards to the CPU device.
class FakeDevice : public Device {
 public:
  FakeDevice(std::vector<const FakeTactic*> relu, bool overlaps)
      : relu_(std::move(relu)), overlaps_(overlaps) {}

  std::string_view name() const override { return "fake"; }
  std::string fingerprint() const override { return "fake; 1"; }
  std::vector<Layout> image_layouts(Precision) const override { return layouts; }
  std::vector<const Tactic*> tactics(const graph::Node& node) const override {
    if (node.op == "Relu") return {relu_.begin(), relu_.end()};
    return cpu().tactics(node);
  }
  std::shared_ptr<const Kernel> make_reorder(const TensorDesc& from, const TensorDesc& to) const override {
    return cpu().make_reorder(from, to);
  }
  std::unique_ptr<Executor> make_executor(const Program& program) const override;
  std::vector<std::string> passes(Precision, int64_t images) const override {
    asked_images = images;
    return requested_passes;
  }
  bool overlaps_steps() const override { return overlaps_; }
  /// A second passes from one look to the next.
  OthersUse others_use() const override {
    const auto looks = static_cast<double>(++looks_at_others_);
    return {looks * others_share, looks};
  }
  double search_seconds() const override { return own_search_seconds; }
  bool splits_batches() const override { return false; }
  bool computes_in(Precision precision) const override { return cpu().computes_in(precision); }
  std::shared_ptr<const Kernel> make_rounding(std::shared_ptr<const Kernel> kernel,
                                              std::vector<TensorDesc> outputs) const override {
    return cpu().make_rounding(std::move(kernel), std::move(outputs));
  }
  void set_threads(int threads) const override { cpu().set_threads(threads); }
  std::vector<std::string> notes(const NumericPolicy&) const override { return {}; }

  double others_share = 0;
  std::vector<Layout> layouts = {Layout::kPlain};
  double own_search_seconds = std::numeric_limits<double>::infinity();
  std::vector<std::string> requested_passes;
  mutable int64_t asked_images = -1;  ///< when the passes were asked for
  /// Programs whose memory finds room at a time.
  int room = std::numeric_limits<int>::max();
  mutable int executors = 0;
  std::map<std::string, double> times_us;
  /// The first time that steps of these tactics are timed, other work delays them by so much.
  mutable std::map<std::string, double> first_delays_us;
  /// The cost of a network of several numeric policies beyond its steps.
  double mixed_us = 0;

  /// Steps of the CPU device take next to nothing, unless their tactic is named in times_us, "tactic" or
  /// "tactic in policy".
  double step_us(const Program& program, const ProgramStep& step) const {
    for (const std::string& known :
         {fmt::format("{} in {}", step.plan.tactic.name, policy_name(step.plan.policy)),
          step.plan.tactic.name}) {
      if (const auto time = times_us.find(known); time != times_us.end()) return time->second;
    }
    const std::string node = step.node < 0 ? "" : program.graph().nodes[static_cast<size_t>(step.node)].name;
    for (const FakeTactic* tactic : relu_) {
      if (const auto time = tactic->step_us(step.plan.tactic, node)) return *time;
    }
    return 1;
  }

  /// The time that this step adds to the next one.
  double delays_next_us(const ProgramStep& step) const {
    for (const FakeTactic* tactic : relu_) {
      if (tactic->name == step.plan.tactic.name) return tactic->delays_next_us();
    }
    return 0;
  }

  /// The cost of these steps' tactics beyond their own time.
  double hidden_us(const Program& program) const {
    std::set<NumericPolicy> policies;
    for (const ProgramStep& step : program.steps()) {
      if (step.node >= 0) policies.insert(step.plan.policy);
    }
    double total = policies.size() > 1 ? mixed_us : 0;
    for (const FakeTactic* tactic : relu_) {
      const auto uses = steps_by(*tactic, program);
      total += static_cast<double>(uses) * tactic->hidden_us();
      total -= static_cast<double>(std::max<std::ptrdiff_t>(uses - 1, 0)) * tactic->saves_together_us();
    }
    return total;
  }

  /// Whether a tactic that must not be in two steps is.
  bool is_wrong(const Program& program) const {
    for (const FakeTactic* tactic : relu_) {
      const auto uses = steps_by(*tactic, program);
      if (tactic->wrong_in_two_steps() && uses > 1) return true;
    }
    return false;
  }

 private:
  static const Device& cpu() { return device::cpu::cpu_device(); }
  static std::ptrdiff_t steps_by(const FakeTactic& tactic, const Program& program) {
    return std::count_if(program.steps().begin(), program.steps().end(), [&](const ProgramStep& step) {
      return step.plan.tactic == TacticId{tactic.name, {}};
    });
  }

  std::vector<const FakeTactic*> relu_;
  bool overlaps_;
  mutable int looks_at_others_ = 0;
};

/// The host's executor; whole networks take their hidden time too.
class FakeExecutor final : public Executor {
 public:
  FakeExecutor(const FakeDevice& device, const Program& program)
      : device_(device),
        host_(make_host_executor(program)),
        hidden_us_(device.hidden_us(program)),
        is_wrong_(device.is_wrong(program)) {
    if (device.executors == device.room)
      throw OutOfMemory(ErrorKind::kBadInput, "the limit has no room for it");
    ++device_.executors;
    double delay = 0;
    for (const ProgramStep& step : program.steps()) {
      step_us_.push_back(device.step_us(program, step) + delay);
      tactics_.push_back(step.plan.tactic.name);
      delay = device.delays_next_us(step);
    }
  }

  ~FakeExecutor() override { --device_.executors; }
  FakeExecutor(const FakeExecutor&) = delete;
  FakeExecutor& operator=(const FakeExecutor&) = delete;

  void upload(std::span<const tensor::Tensor> inputs) override { host_->upload(inputs); }
  void execute(std::vector<double>* step_times) override {
    host_->execute(nullptr);
    if (step_times == nullptr) return;
    *step_times = step_us_;
    for (size_t i = 0; i < tactics_.size(); ++i) {
      if (const auto delay = device_.first_delays_us.find(tactics_[i]);
          delay != device_.first_delays_us.end())
        (*step_times)[i] += delay->second;
    }
    for (const std::string& tactic : tactics_) device_.first_delays_us.erase(tactic);
  }
  void poison() override { host_->poison(); }
  std::unique_ptr<BoundRuns> bind(IoAddresses io, std::vector<InputCopy> copies) override {
    return host_->bind(std::move(io), std::move(copies));
  }
  std::vector<tensor::Tensor> download() override {
    std::vector<tensor::Tensor> outputs = host_->download();
    if (is_wrong_) {
      for (float& value : outputs[0].mutable_values<float>()) value *= 2;
    }
    return outputs;
  }
  ExecutionTimes execute_timed() override {
    host_->execute(nullptr);
    return {1, std::accumulate(step_us_.begin(), step_us_.end(), hidden_us_)};
  }

 private:
  const FakeDevice& device_;
  std::unique_ptr<Executor> host_;
  std::vector<double> step_us_;
  std::vector<std::string> tactics_;
  double hidden_us_;
  bool is_wrong_;
};

inline std::unique_ptr<Executor> FakeDevice::make_executor(const Program& program) const {
  return std::make_unique<FakeExecutor>(*this, program);
}

}  // namespace hone::engine
