// The backend for one TensorRT library, and the entry point of the plugin for its major.
#include "backend/tensorrt/plugin/library/build.hpp"
#include "backend/tensorrt/plugin/library/entry.hpp"
#include "backend/tensorrt/plugin/library/executable.hpp"
#include "backend/tensorrt/plugin/library/node_support.hpp"
#include "base/error.hpp"
#include "tensor/place.hpp"

namespace hone::backend::tensorrt {
namespace {

void check_precision(Precision precision, const Library& library) {
#if NV_TENSORRT_MAJOR < 10
  if (precision == Precision::kBf16)
    fail_environment("TensorRT {} has no bf16: take fp16 or tf32, or install version 10", library.version());
#else
  (void)precision;
  (void)library;
#endif
}

class LibraryBackend final : public Backend {
 public:
  explicit LibraryBackend(const std::string& libnvinfer) : library_(std::make_shared<Library>(libnvinfer)) {}

  std::string_view name() const override { return "tensorrt"; }

  std::string version(std::string_view device) const override {
    const tensor::Place place = tensor::parse_place(device);
    if (place.kind == tensor::PlaceKind::kCpu) return library_->version();
    const Gpu gpu(place.ordinal);
    const std::string missing = library_->missing_builder_resource(gpu.major(), gpu.minor());
    return fmt::format(
        "{} ({}; {})", library_->version(), gpu.text(),
        missing.empty() ? "builds and runs" : "runs plans, cannot build: " + missing + " is missing");
  }

  void require_device(std::string_view device) const override {
    const Gpu gpu(tensor::parse_place(device).ordinal);
  }

  bool binds() const override { return true; }

  std::vector<Refusal> refusals(const importer::Model& model, const LoadOptions& options) override {
    return refused_nodes(*library_, *model.graph, options);
  }

  std::unique_ptr<Executable> load(const importer::Model& model, const LoadOptions& options) override {
    check_precision(options.precision, *library_);
    check_precision(options.beside_int8, *library_);
    const Settings settings = settings_of(options);
    const auto gpu = std::make_shared<const Gpu>(tensor::parse_place(options.device).ordinal);
    const int64_t free_before = gpu->free_bytes();
    if (model.graph == nullptr) return open_file(model, settings, gpu, free_before);
    std::vector<std::map<std::string, tensor::Shape>> profiles = options.profiles;
    if (profiles.empty()) profiles.push_back(options.input_shapes);
    const Rebuild rebuild = [=, library = library_](const std::map<std::string, tensor::Shape>& shapes) {
      return build(library, gpu, model, options, settings, {shapes}, free_before);
    };
    Replacement first = build(library_, gpu, model, options, settings, std::move(profiles), free_before);
    return make_executable(std::move(first.plan), std::move(first.origin), model.graph, rebuild,
                           options.input_shapes);
  }

 private:
  static Replacement build(const std::shared_ptr<Library>& library, const std::shared_ptr<const Gpu>& gpu,
                           const importer::Model& model, const LoadOptions& options, const Settings& settings,
                           std::vector<std::map<std::string, tensor::Shape>> profiles, int64_t free_before) {
    gpu->use();
    const Source source(model, options, settings, std::move(profiles));
    BuiltPlan built = build_plan(*library, *gpu, model.name, source, options, settings);
    return {load_plan(library, gpu, built.plan.bytes),
            {std::move(built.plan.record), built.fresh, free_before, source.notes(), source.sources()}};
  }

  std::unique_ptr<Executable> open_file(const importer::Model& model, const Settings& settings,
                                        const std::shared_ptr<const Gpu>& gpu, int64_t free_before) const {
    if (model.file.extension() != ".plan" && model.file.extension() != ".trt")
      fail_bad_input("{} is a TorchScript archive, which the backend torchscript runs", model.name);
    Plan plan = read_plan(model.file, settings.trust);
    const std::string built_for = plan.record.gpu;
    if (plan.known && built_for != gpu->text())
      fail_environment("{} was built for '{}', this is '{}'; build it again here", model.file.string(),
                       built_for, gpu->text());
    if (plan.known && plan.record.tensorrt != library_->version())
      fail_environment("{} was built by TensorRT {}, this is {}; build it again here", model.file.string(),
                       plan.record.tensorrt, library_->version());
    return make_executable(load_plan(library_, gpu, plan.bytes), {std::move(plan.record), false, free_before},
                           nullptr, {});
  }

  std::shared_ptr<Library> library_;
};

}  // namespace
}  // namespace hone::backend::tensorrt

extern "C" __attribute__((visibility("default"))) hone::backend::Backend* hone_make_tensorrt(
    const char* libnvinfer) {
  return new hone::backend::tensorrt::LibraryBackend(libnvinfer);
}
