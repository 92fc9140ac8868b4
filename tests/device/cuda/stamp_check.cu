// Checks of kernel_stamp.hpp and clock_echo.hpp: launches say when they ran, in the order in which they ran.

#include "device/cuda/plugin/kernels/common/clock_echo.hpp"
#include "device/cuda/plugin/kernels/common/kernel_stamp.hpp"
#include "device/cuda/plugin/kernels/layers/reorder.hpp"
#include "kernels_check.hpp"

namespace hone::device::cuda::check {
namespace {

constexpr int kLaunches = 20;
constexpr int64_t kElements = 1 << 20;

class Places final : public StampSource {
 public:
  explicit Places(KernelStamp* stamps) : stamps_(stamps) {}
  KernelStamp* next() override { return stamps_ + taken_++; }
  int taken() const { return taken_; }

 private:
  KernelStamp* stamps_;
  int taken_ = 0;
};

cudaError_t launch_all(const Values& x, const Output& y, const LaunchOptions& options) {
  for (int i = 0; i < kLaunches; ++i) {
    const cudaError_t error =
        convert(x.get(), FloatType::kFloat, y.get(), FloatType::kHalf, kElements, options);
    if (error != cudaSuccess) return error;
  }
  return cudaDeviceSynchronize();
}

void check_order(Family& family, bool pdl) {
  const Values x(kElements, FloatType::kFloat);
  const Output y(kElements, FloatType::kHalf);
  DeviceBuffer stamps(sizeof(KernelStamp) * kLaunches);
  (void)cudaMemset(stamps.get(), 0, stamps.bytes());
  const std::string what = pdl ? "programmatic" : "plain";
  {
    Places places(static_cast<KernelStamp*>(stamps.get()));
    family.launched(launch_all(x, y, {.pdl = pdl, .stamps = &places}), what);
    family.expect(places.taken() == kLaunches, what + ": a stamp for each launch");
  }
  KernelStamp found[kLaunches];
  stamps.download(found);
  bool ordered = true;
  for (int i = 0; i < kLaunches; ++i) {
    // 4 MB there and 2 MB back: more than half a microsecond, less than a millisecond.
    const uint64_t duration = found[i].end - found[i].begin;
    ordered = ordered && found[i].begin > 0 && duration > 500 && duration < 1'000'000;
    if (i > 0) ordered = ordered && found[i].end > found[i - 1].end && found[i].begin > found[i - 1].begin;
    if (i > 0 && !pdl) ordered = ordered && found[i].begin >= found[i - 1].end;
  }
  family.expect(ordered, what + ": in order");
  // Nobody asks any more.
  KernelStamp after[kLaunches];
  family.launched(launch_all(x, y, {.pdl = pdl}), what + ", unasked");
  stamps.download(after);
  bool untouched = true;
  for (int i = 0; i < kLaunches; ++i) untouched = untouched && after[i].end == found[i].end;
  family.expect(untouched, what + ": nothing is written unasked");
}

}  // namespace

void check_stamps() {
  if (!launches_overlap("stamps")) return;
  Family family("stamps");
  check_order(family, false);
  check_order(family, true);
}

}  // namespace hone::device::cuda::check
