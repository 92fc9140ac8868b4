// Inside the torch plugin: placements, layouts and their choice, which a GPU would use and a CPU can test.
#include <ATen/Context.h>
#include <ATen/ops/ones.h>
#include <c10/core/InferenceMode.h>

#include "backend/torch/plugin/bind.hpp"
#include "backend/torch/plugin/convert.hpp"
#include "backend/torch/plugin/layout.hpp"
#include "backend/torch_support.hpp"

namespace hone::backend::aten {
namespace {

using test::GraphBuilder;
using test::Shape;
using test::Tensor;
using test::ValueId;
using testing::HasSubstr;

/// Convolutions, plain and depthwise, batch norm, pools, residual and concatenation, with an image as output.
graph::Graph image_network() {
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 4, 12, 12});
  const ValueId stem = b.node("Relu", {b.batch_norm(b.conv(x, 4, 8), 8)});
  const ValueId pooled =
      b.node("MaxPool", {stem},
             {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  const ValueId branch = b.node("Add", {b.batch_norm(b.conv(pooled, 8, 8), 8), pooled});
  return b.finish({b.node("Concat", {branch, pooled}, {{"axis", int64_t{1}}})});
}

/// Two convolutions of 72 products and what stands between them, as in torch_model_test.cpp.
constexpr double kTolerance = 4 * test::kOperatorTolerance;

BoundGraph bound(graph::Graph graph) { return std::make_shared<const graph::Graph>(bind_shapes(graph, {})); }

TEST(TorchPlacement, ConvertsFloat32Alone) {
  const Placement half{Precision::kFp16};
  EXPECT_EQ(half.scalar_type(at::kFloat), at::kHalf);
  EXPECT_EQ(half.scalar_type(at::kDouble), at::kDouble);
  EXPECT_EQ(half.scalar_type(at::kLong), at::kLong);
  EXPECT_EQ(Placement{Precision::kBf16}.scalar_type(at::kFloat), at::kBFloat16);
  EXPECT_EQ(Placement{Precision::kTf32}.scalar_type(at::kFloat), at::kFloat);
  EXPECT_EQ(half.place(at::ones({2, 3})).scalar_type(), at::kHalf);
}

TEST(TorchPlacement, LaysOutImagesAlone) {
  const Placement placement{Precision::kFp32, at::kCPU, /*channels_last=*/true};
  const at::Tensor image = at::ones({2, 3, 4, 5});
  const at::Tensor placed = placement.place(image);
  EXPECT_TRUE(placed.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(placed.equal(image));
  EXPECT_TRUE(placement.place(at::ones({2, 3, 4})).is_contiguous());
  EXPECT_EQ(placement.place(placed).data_ptr(), placed.data_ptr()) << "copied although it lies right";
  EXPECT_EQ(Placement{}.place(image).data_ptr(), image.data_ptr());
  EXPECT_EQ(placement.text(), "fp32, channels-last");
}

TEST(TorchPlacement, Tf32IsOneSettingForProductsAndConvolutions) {
  for (const bool allowed : {true, false}) {
    allow_tf32(allowed);
    EXPECT_EQ(at::globalContext().allowTF32CuBLAS(), allowed);
    EXPECT_EQ(at::globalContext().allowTF32CuDNN(), allowed);
  }
}

TEST(TorchLayout, BothComputeTheSame) {
  const c10::InferenceMode inference;
  const BoundGraph graph = bound(image_network());
  const Tensor input = test::random_tensor({2, 4, 12, 12}, 5);
  const Tensor expected = reference::run_graph(*graph, std::vector<Tensor>{input})[0];
  for (const MakeRunner make : {make_eager_runner, make_script_runner}) {
    for (const bool channels_last : {false, true}) {
      const auto runner = make(graph, {Precision::kFp32, at::kCPU, channels_last});
      runner->set_inputs({torch_view_of(input)}, /*pinned=*/false);
      for (int run = 0; run < 2; ++run) {
        const at::Tensor output = runner->run().at(0);
        EXPECT_LE(test::relative_error(copy_of(output, tensor::DType::kFloat32), expected), kTolerance);
        if (make == make_eager_runner) {
          EXPECT_EQ(output.is_contiguous(at::MemoryFormat::ChannelsLast), channels_last)
              << "somewhere the layout got lost";
        }
      }
    }
  }
}

/// A runner that only says where it stands, and how many of its kind live.
class FakeRunner final : public Runner {
 public:
  static inline int alive = 0;
  explicit FakeRunner(const Placement& placement) : Runner(placement) {
    ++alive;
    EXPECT_EQ(alive, 1) << "two runners hold device memory at the same time";
  }
  ~FakeRunner() override { --alive; }
  std::unique_ptr<Runner> share() const override { return nullptr; }
  std::vector<at::Tensor> run() override { return {}; }
  int64_t weight_bytes() const override { return 0; }
  std::vector<StepInfo> steps() const override { return {}; }
};

std::unique_ptr<Runner> make_fake(BoundGraph, const Placement& placement) {
  return std::make_unique<FakeRunner>(placement);
}

std::unique_ptr<Runner> make_fake_without_channels_last(BoundGraph graph, const Placement& placement) {
  if (placement.channels_last) fail_bad_input("no NHWC here");
  return make_fake(std::move(graph), placement);
}

std::unique_ptr<Runner> make_nothing(BoundGraph, const Placement& placement) {
  fail_bad_input("{} fails", placement.channels_last ? "NHWC" : "NCHW");
}

/// A measurement that finds these times.
Measure times(double plain_ms, double channels_last_ms) {
  return [=](Runner& runner) { return runner.placement().channels_last ? channels_last_ms : plain_ms; };
}

TEST(TorchLayout, TheFasterOneIsChosenAndNamed) {
  const BoundGraph graph = bound(image_network());
  const ChosenRunner last = choose_layout(graph, {}, make_fake, times(2, 1.25));
  EXPECT_TRUE(last.runner->placement().channels_last);
  EXPECT_EQ(last.note, "channels-last: 1.25 ms a run at load, NCHW took 2 ms");
}

TEST(TorchLayout, NchwStaysWhenItIsFasterOrAlone) {
  const BoundGraph graph = bound(image_network());
  {
    const ChosenRunner plain = choose_layout(graph, {}, make_fake, times(1, 2));
    EXPECT_FALSE(plain.runner->placement().channels_last);
    EXPECT_EQ(plain.note, "NCHW: 1 ms a run at load, channels-last took 2 ms");
  }
  const ChosenRunner alone = choose_layout(graph, {}, make_fake_without_channels_last, times(1, 2));
  EXPECT_FALSE(alone.runner->placement().channels_last);
  EXPECT_THAT(alone.note, HasSubstr("channels-last failed: no NHWC here"));
}

TEST(TorchLayout, TheErrorOfNchwIsTheModels) {
  try {
    choose_layout(bound(image_network()), {}, make_nothing, times(1, 2));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "NCHW fails");
  }
}

TEST(TorchLayout, OnlyImageConvolutionsHaveOne) {
  EXPECT_TRUE(convolves_images(image_network()));
  GraphBuilder b;
  const ValueId x = b.input("x", {2, 8});
  EXPECT_FALSE(convolves_images(b.finish({b.node("Relu", {x})})));
}

TEST(TorchLayout, AMeasurementRunsTheModel) {
  const c10::InferenceMode inference;
  const BoundGraph graph = bound(image_network());
  const auto runner = make_eager_runner(graph, {});
  EXPECT_GT(measure_runs(*graph, *runner), 0);
}

TEST(TorchRunners, ThoseThatShareWeightsHaveInputsOfTheirOwn) {
  const c10::InferenceMode inference;
  const BoundGraph graph = bound(image_network());
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
  for (const int seed : {5, 6}) {
    inputs.push_back(test::random_tensor({2, 4, 12, 12}, seed));
    expected.push_back(reference::run_graph(*graph, std::vector<Tensor>{inputs.back()})[0]);
  }
  for (const MakeRunner make : {make_eager_runner, make_script_runner}) {
    auto first = make(graph, {});
    const auto second = first->share();
    EXPECT_EQ(second->weight_bytes(), first->weight_bytes());
    first->set_inputs({torch_view_of(inputs[0])}, /*pinned=*/false);
    second->set_inputs({torch_view_of(inputs[1])}, /*pinned=*/false);
    const auto error = [&](Runner& runner, size_t set) {
      return test::relative_error(copy_of(runner.run().at(0), tensor::DType::kFloat32), expected[set]);
    };
    EXPECT_LE(error(*first, 0), kTolerance);
    EXPECT_LE(error(*second, 1), kTolerance);
    first.reset();
    EXPECT_LE(error(*second, 1), kTolerance) << "its weights went with the other one";
  }
}

TEST(TorchErrors, PyTorchsOwnBecomeOurs) {
  EXPECT_EQ(translated([] { return 3; }), 3);
  try {
    translated([] { TORCH_CHECK(false, "CUDA error: unspecified launch failure"); });
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_STREQ(error.what(), "PyTorch says: CUDA error: unspecified launch failure");
  }
}

TEST(TorchErrors, WhatTheDeviceRefusesIsOfTheEnvironment) {
  EXPECT_EQ(error_kind(std::runtime_error("CUDA out of memory. Tried to allocate 20.00 MiB")),
            ErrorKind::kEnvironment);
  EXPECT_EQ(error_kind(std::runtime_error("CUDA error: an illegal memory access was encountered")),
            ErrorKind::kEnvironment);
  EXPECT_EQ(error_kind(std::runtime_error("mat1 and mat2 shapes cannot be multiplied")),
            ErrorKind::kBadInput);
}

}  // namespace
}  // namespace hone::backend::aten
