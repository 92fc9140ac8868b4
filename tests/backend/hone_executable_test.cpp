// An engine as the benchmark and the command line run it.
#include "backend/hone/hone_backend.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/cpu/cpu_device.hpp"
#include "support/graph_builder.hpp"

namespace hone::backend {
namespace {

using graph::Dim;
using test::GraphBuilder;
using test::random_tensor;

std::unique_ptr<Executable> small_executable() {
  GraphBuilder b;
  const auto x = b.input("x", {Dim::symbol("batch"), 8});
  const graph::Graph graph = b.finish({b.node("Relu", {b.node("MatMul", {x, b.random({8, 4})})})});
  engine::BuildOptions options;
  options.model = "small";
  options.threads = 1;
  options.optimization_level = 0;
  options.default_batch = 2;
  return make_engine_executable(engine::build_engine(graph, device::cpu::cpu_device(), options), 1);
}

TEST(HoneExecutable, TellsOfTheLastRunThatSucceeded) {
  const auto executable = small_executable();
  ASSERT_EQ(executable->run(std::vector{random_tensor({3, 8}, 1)})[0].shape(), (tensor::Shape{3, 4}));
  const MemoryUse before = executable->memory();
  EXPECT_THROW(executable->run(std::vector{random_tensor({3, 9}, 1)}), Error);
  EXPECT_EQ(executable->memory().activations, before.activations);
  EXPECT_EQ(executable->steps().size(), 1);
}

}  // namespace
}  // namespace hone::backend
