// Every truncation and every flipped byte of small valid models: the importer, inference and the reference
// kernels answer with a graph or with a bad-input error, never with a crash or a bug of ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <new>

#include "base/file.hpp"
#include "import/onnx/import.hpp"
#include "reference/interpreter.hpp"

namespace hone::importer {
namespace {

namespace fs = std::filesystem;
using graph::Graph;
using graph::Tensor;

constexpr int64_t kRunLimit = 1 << 16;

std::vector<fs::path> seeds() {
  std::vector<fs::path> result;
  for (const auto& entry : fs::directory_iterator(fs::path(HONE_SOURCE_DIR) / "fuzz/corpus/onnx_model")) {
    result.push_back(entry.path());
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// Elements of a type with unknown dimensions taken as 2; more than kRunLimit counts as kRunLimit + 1.
int64_t elements(const graph::TensorType& type) {
  if (!type.ranked()) return 1;
  int64_t count = 1;
  for (const auto& dim : *type.dims) {
    const int64_t size = dim.known() ? dim.value() : 2;
    if (size > kRunLimit) return kRunLimit + 1;
    count *= size;
    if (count > kRunLimit) return count;
  }
  return count;
}

/// Whether the node is a Loop of more than a thousand trips, as far as its inputs say.
bool is_long_loop(const Graph& graph, const graph::Node& node) {
  if (node.op != "Loop") return false;
  const Tensor* trips = graph.constant(node.input(0));
  return trips == nullptr || trips->size() != 1 || trips->to_double()[0] > 1000;
}

/// A mutation may ask for a large tensor or a long loop, which is allowed; such models are imported but not
/// run.
bool is_small(const Graph& graph) {
  return std::all_of(graph.values.begin(), graph.values.end(),
                     [](const auto& value) { return elements(value.type) <= kRunLimit; }) &&
         std::none_of(graph.nodes.begin(), graph.nodes.end(),
                      [&](const auto& node) { return is_long_loop(graph, node); });
}

void run(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (const graph::ValueId id : graph.inputs) {
    const auto& type = graph.value(id).type;
    tensor::Shape shape;
    if (type.ranked()) {
      for (const auto& dim : *type.dims) shape.push_back(dim.known() ? dim.value() : 2);
    }
    Tensor input(type.dtype == tensor::DType::kUndefined ? tensor::DType::kFloat32 : type.dtype, shape);
    std::fill_n(input.mutable_bytes(), input.byte_size(), std::byte{0});
    inputs.push_back(std::move(input));
  }
  reference::run_graph(graph, inputs);
}

/// Empty when all is well.
std::string complaint(const std::string& bytes) {
  try {
    const Graph graph = import_onnx(std::as_bytes(std::span(bytes)));
    if (is_small(graph)) run(graph);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kBadInput) return error.what();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

class OnnxMutation : public testing::TestWithParam<fs::path> {};

TEST_P(OnnxMutation, TruncationsAreRefused) {
  const std::string whole = base::read_file(GetParam());
  for (size_t length = 0; length < whole.size(); ++length) {
    EXPECT_EQ(complaint(whole.substr(0, length)), "") << "cut off at byte " << length;
  }
}

TEST_P(OnnxMutation, FlippedBytesDoNoHarm) {
  const std::string whole = base::read_file(GetParam());
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int mask : {0xff, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ mask);
      EXPECT_EQ(complaint(changed), "") << "byte " << i << " flipped by " << mask;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, OnnxMutation, testing::ValuesIn(seeds()),
                         [](const auto& info) { return info.param.stem().string(); });

}  // namespace
}  // namespace hone::importer
