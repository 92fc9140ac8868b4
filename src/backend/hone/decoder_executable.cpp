// See decoder_executable.hpp.
#include "backend/hone/decoder_executable.hpp"

#include <fmt/format.h>

#include <map>

#include "backend/hone/device_observer.hpp"
#include "backend/hone/step_infos.hpp"
#include "engine/loaded_engine.hpp"

namespace hone::backend {
namespace {

using tensor::Tensor;

class DecoderExecutable final : public Executable {
 public:
  DecoderExecutable(std::shared_ptr<const engine::Engine> engine, const engine::FixedCaches& caches,
                    const engine::Device& device, int threads)
      : engine_(std::move(engine)),
        device_(device),
        caches_(caches),
        loaded_(std::make_shared<engine::LoadedEngine>(engine_, device_, threads)),
        runs_(loaded_, caches) {}

  std::vector<Tensor> run(std::span<const Tensor> inputs) override {
    upload(inputs);
    execute();
    return download();
  }

  void upload(std::span<const Tensor> inputs) override {
    const engine::FixedCacheRuns::Filling& filling = filling_of(inputs);
    runs_.fill(filling);
    std::vector<Tensor> all(inputs.begin(), inputs.end());
    // This adds the input for the length, which the runs set themselves.
    all.resize(engine_->graph->inputs.size());
    runs_.upload(all);
  }

  void execute() override { runs_.execute(); }

  std::vector<Tensor> download() override {
    std::vector<Tensor> outputs = runs_.download();
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (runs_.is_cache_output(i)) outputs[i] = runs_.cache(i);
    }
    return outputs;
  }

  bool was_tuned() const override { return engine_->tuned; }
  std::string bus_id() const override { return device_.bus_id(); }
  MemoryUse memory() const override { return {.weights = loaded_->packed_bytes()}; }

  bool times_device() const override {
    return device_.place().kind != tensor::PlaceKind::kCpu && runs_.can_be_watched();
  }

  std::unique_ptr<Observer> observe(const ObserveOptions& options) override {
    if (!options.device || !times_device()) return nullptr;
    return std::make_unique<DeviceObserver>(runs_.watch());
  }

  std::vector<StepInfo> steps() const override {
    return step_infos(engine::describe(*loaded_, runs_.shapes()));
  }

  std::vector<std::string> notes() const override {
    return {
        fmt::format("its caches hold {} tokens and stay where it computes: a run appends to them in place",
                    caches_.capacity)};
  }

 private:
  /// Prepares the caches of a set of inputs once, although the same set is given repeatedly.
  const engine::FixedCacheRuns::Filling& filling_of(std::span<const Tensor> inputs) {
    const void* const set = inputs[caches_.caches.front().input].bytes();
    const auto known = fillings_.find(set);
    if (known != fillings_.end()) return known->second.filling;
    Kept kept{runs_.prepare(inputs), inputs[caches_.caches.front().input]};
    return fillings_.emplace(set, std::move(kept)).first->second.filling;
  }

  struct Kept {
    engine::FixedCacheRuns::Filling filling;
    /// Keeps the tensor alive, whose address is the key.
    Tensor first;
  };

  std::shared_ptr<const engine::Engine> engine_;
  const engine::Device& device_;
  engine::FixedCaches caches_;
  std::shared_ptr<engine::LoadedEngine> loaded_;
  mutable engine::FixedCacheRuns runs_;
  std::map<const void*, Kept> fillings_;
};

}  // namespace

std::unique_ptr<Executable> make_decoder_executable(std::shared_ptr<const engine::Engine> engine,
                                                    const engine::FixedCaches& caches,
                                                    const engine::Device& device, int threads) {
  return std::make_unique<DecoderExecutable>(std::move(engine), caches, device, threads);
}

}  // namespace hone::backend
