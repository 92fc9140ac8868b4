// Inputs: the same samples whatever the batch, several distinct sets, never all zero; and shapes.
#include "bench/worker/inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "base/error.hpp"
#include "base/file.hpp"
#include "bench/fixture.hpp"
#include "system/scratch.hpp"

namespace hone::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string set_bytes(const InputFile& input, size_t set) {
  const size_t size =
      static_cast<size_t>(tensor::element_count(input.shape)) * tensor::dtype_size(input.dtype);
  return base::read_file(input.file).substr(input.offsets[set], size);
}

TEST(ModelInfo, SaysToWhatAModelRounds) {
  importer::Model model = make_model("tiny");
  const auto precision = [&] { return describe_model(model, "tiny", {}).precision; };
  EXPECT_EQ(precision(), tensor::Precision::kFp32);
  auto graph = std::make_shared<graph::Graph>(*model.graph);
  model.graph = graph;
  graph::Value& result = graph->value(graph->nodes[0].outputs[0]);
  graph->value(graph->nodes[0].inputs[0]).type.dtype = tensor::DType::kFloat16;
  EXPECT_EQ(precision(), tensor::Precision::kFp32) << "only stored";
  result.type.dtype = tensor::DType::kFloat16;
  EXPECT_EQ(precision(), tensor::Precision::kFp16);
  graph::Node loop;
  loop.op = "Loop";
  loop.attributes.set("body", std::make_shared<graph::Graph>(*graph));
  result.type.dtype = tensor::DType::kFloat32;
  graph->nodes.push_back(loop);
  EXPECT_EQ(precision(), tensor::Precision::kFp16) << "within a loop";
  result.type.dtype = tensor::DType::kBFloat16;
  EXPECT_EQ(precision(), tensor::Precision::kBf16) << "the coarser one";
}

TEST(InputPool, GivesEveryBatchTheSameSamples) {
  const system::Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  const InputPool pool(model, 8, scratch.folder());
  const auto one = pool.at_batch(1, 4);
  const auto three = pool.at_batch(3, 4);
  const auto eight = pool.at_batch(8, 4);
  EXPECT_EQ(three[0].shape, (tensor::Shape{3, 6}));
  EXPECT_EQ(set_bytes(three[0], 0), set_bytes(one[0], 0) + set_bytes(one[0], 1) + set_bytes(one[0], 2));
  EXPECT_EQ(set_bytes(eight[0], 0).substr(0, 24), set_bytes(one[0], 0));
  EXPECT_NE(set_bytes(eight[0], 0), set_bytes(eight[0], 3));
  EXPECT_EQ(set_bytes(eight[0], 3).size(), 8u * 6 * 4);
}

TEST(InputPool, GrowsWithWhatIsReserved) {
  const system::Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  InputPool pool(model, 1, scratch.make_folder("grown"));
  pool.reserve(3);
  pool.reserve(2);
  const InputPool whole(model, 3, scratch.make_folder("whole"));
  for (size_t set = 0; set < 4; ++set)
    EXPECT_EQ(set_bytes(pool.at_batch(3, 4)[0], set), set_bytes(whole.at_batch(3, 4)[0], set)) << set;
}

TEST(InputPool, KeepsWhatItHasWhenABatchIsTooLarge) {
  const system::Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  InputPool pool(model, 1, scratch.folder());
  const std::string before = base::read_file(pool.at_batch(1, 1)[0].file);
  try {
    pool.reserve(int64_t{1} << 40);
    FAIL() << "53 TB were made";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
    EXPECT_EQ(std::string(error.what())
                  .find("the inputs of batch 1099511627776 take 52.78 TB, more than tensors may take"),
              0u)
        << error.what();
  }
  EXPECT_EQ(base::read_file(pool.at_batch(1, 1)[0].file), before);
}

TEST(InputPool, StopsWhenInterrupted) {
  const system::Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  system::StopFlag stop = false;
  InputPool pool(model, scratch.folder(), &stop);
  pool.reserve(1);
  const std::string before = base::read_file(pool.at_batch(1, 1)[0].file);
  stop = true;
  EXPECT_THROW(pool.reserve(1000), system::Interrupted);
  EXPECT_EQ(base::read_file(pool.at_batch(1, 1)[0].file), before);
}

/// Also asks to stop, which only a loop that goes on would hear.
system::StopFlag full_disk_met = false;

TEST(InputPool, MakesNothingMoreOnceTheDiskIsFull) {
  const system::Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  full_disk_met = false;
  InputPool pool(model, scratch.folder(), &full_disk_met);
  pool.reserve(1);
  const std::string before = base::read_file(pool.at_batch(1, 1)[0].file);
  // A limit on the size of files stands for the full disk: both fail in write().
  rlimit unlimited{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &unlimited), 0);
  const auto handler = std::signal(SIGXFSZ, [](int) { full_disk_met = true; });
  const rlimit small{4096, unlimited.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THAT([&] { pool.reserve(100'000); },
              ThrowsMessage<Error>(HasSubstr("input_0.bin: cannot write: File too large")));
  ::setrlimit(RLIMIT_FSIZE, &unlimited);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(full_disk_met);
  EXPECT_EQ(base::read_file(pool.at_batch(1, 1)[0].file), before);
}

TEST(InputPool, MakesNothingForAFileThatCannotBeOpened) {
  const system::Scratch scratch;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  // Only a loop that goes on would hear it.
  const system::StopFlag stop = true;
  InputPool pool(model, scratch.folder() / "missing", &stop);
  EXPECT_THAT([&] { pool.reserve(1); },
              ThrowsMessage<Error>(HasSubstr("input_0.bin: cannot write: No such file or directory")));
}

TEST(InputPool, DependsOnTheModelAlone) {
  const system::Scratch a;
  const system::Scratch b;
  const ModelInfo model = describe_model(make_model("tiny"), "tiny", {});
  const ModelInfo other = describe_model(make_model("other"), "other", {});
  const std::string first = set_bytes(InputPool(model, 1, a.folder()).at_batch(1, 1)[0], 0);
  EXPECT_EQ(set_bytes(InputPool(model, 1, b.folder()).at_batch(1, 1)[0], 0), first);
  EXPECT_NE(set_bytes(InputPool(other, 1, b.folder()).at_batch(1, 1)[0], 0), first);
  EXPECT_NE(first, std::string(24, '\0'));
}

TEST(DescribeModel, HashesWeights) {
  importer::Model a = make_model("net");
  const auto with_weight = [](float value) {
    importer::Model model = make_model("net");
    auto graph = std::make_shared<graph::Graph>(*model.graph);
    graph->add_constant("w", tensor::Tensor::of<float>({value}, {1}));
    model.graph = graph;
    return describe_model(model, "net", {}).hash;
  };
  EXPECT_EQ(with_weight(1), with_weight(1));
  EXPECT_NE(with_weight(1), with_weight(2));
  EXPECT_NE(with_weight(1), describe_model(a, "net", {}).hash);
}

TEST(DescribeModel, TellsOutputsOfOtherShapesApart) {
  const auto described = [](int64_t batch) { return describe_model(make_model("net", batch), "net", {}); };
  EXPECT_EQ(described(4).hash, described(2).hash);
  EXPECT_EQ(described(4).outputs_hash, described(4).outputs_hash);
  EXPECT_NE(described(4).outputs_hash, described(2).outputs_hash);
}

TEST(DescribeModel, KnowsTheBatch) {
  const ModelInfo free = describe_model(make_model("net"), "net", {});
  EXPECT_TRUE(free.dynamic_batch);
  EXPECT_TRUE(free.runs_at(32));
  EXPECT_EQ(free.units(32), 32);
  const ModelInfo fixed = describe_model(make_model("net", 4), "net", {});
  EXPECT_FALSE(fixed.dynamic_batch);
  EXPECT_EQ(fixed.fixed_batch, 4);
  EXPECT_FALSE(fixed.runs_at(8));
  EXPECT_EQ(fixed.units(4), 1);
}

TEST(DescribeModel, AsksForOpenDimensions) {
  importer::Model model = make_model("net");
  auto graph = std::make_shared<graph::Graph>(*model.graph);
  graph->value(graph->inputs[0]).type.dims =
      graph::Dims{graph::Dim::symbol("n"), graph::Dim::symbol("width")};
  model.graph = graph;
  EXPECT_THAT(
      [&] { describe_model(model, "net", {}); },
      ThrowsMessage<Error>(HasSubstr("dimension 1 ('width') of input 'x' is open: give --shapes x:1x128")));
  const ModelInfo info = describe_model(model, "net", {{"x", {1, 640}}});
  EXPECT_EQ(info.inputs[0].shape, (tensor::Shape{1, 640}));
  EXPECT_THROW(describe_model(model, "net", {{"x", {640}}}), Error);
}

TEST(DescribeModel, RefusesPathsThatNoWorkerCanBeTold) {
  EXPECT_NO_THROW(describe_model(make_model("net"), "m\xc3\xbcnze/net.onnx", {}));
  try {
    describe_model(make_model("net"), "b\xff/net.onnx", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kBadInput);
    EXPECT_STREQ(error.what(), "b\xff/net.onnx: a name or path that is not UTF-8 cannot be told to a worker");
  }
}

TEST(DescribeModel, NeedsShapesForAnArchive) {
  const importer::Model archive{"net", "net.pt", nullptr};
  EXPECT_THAT(
      [&] { describe_model(archive, "net.pt", {}); },
      ThrowsMessage<Error>(HasSubstr("give --shapes NAME:1x3x224x224 for each argument of its forward")));
  const ModelInfo info = describe_model(archive, "net.pt", {{"input", {1, 3, 8, 8}}});
  EXPECT_TRUE(info.dynamic_batch);
  EXPECT_FALSE(info.has_graph);
}

TEST(ParseShapes, ReadsTrtexecsForm) {
  std::map<std::string, tensor::Shape> shapes;
  parse_shapes("x:1x3x224x224,ns::y:7", &shapes);
  EXPECT_THROW(parse_shapes("z:1,z:2", &shapes), Error);
  EXPECT_THROW(parse_shapes("x:1x3x224x224", &shapes), Error) << "given before";
  shapes.erase("z");
  EXPECT_EQ(shapes["x"], (tensor::Shape{1, 3, 224, 224}));
  EXPECT_EQ(shapes["ns::y"], (tensor::Shape{7}));
  for (const char* bad : {"x", ":1x2", "x:1x", "x:ax2", "x:0x2", "x:-1", "x:99999999999999999999"}) {
    EXPECT_THROW(parse_shapes(bad, &shapes), Error) << bad;
  }
}

}  // namespace
}  // namespace hone::bench
