// Whole models on the torch backends: precisions, threads, refusals, missing plugins, and TorchScript
// archives.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backend/registry.hpp"
#include "backend/torch_support.hpp"
#include "base/plugin.hpp"

namespace hone::test {
namespace {

namespace fs = std::filesystem;

/// Convolution, batch norm, residual add, pool, linear layer: a small network with a shape of its own.
Graph small_network() {
  GraphBuilder b;
  const ValueId x = b.input("x", {Dim::symbol("batch"), 3, 12, 12});
  const ValueId stem = b.node("Relu", {b.batch_norm(b.conv(x, 3, 8), 8)});
  const ValueId branch = b.batch_norm(b.conv(stem, 8, 8), 8);
  const ValueId sum = b.node("Relu", {b.node("Add", {branch, stem})});
  const ValueId pooled = b.node("Flatten", {b.node("GlobalAveragePool", {sum})});
  return b.finish({b.node("Gemm", {pooled, b.random({5, 8}), b.random({5})}, {{"transB", int64_t{1}}})});
}

/// Longest chain of roundings: two convolutions of 72 products, and what stands between them.
constexpr double kNetworkTolerance = 4 * kOperatorTolerance;

std::unique_ptr<backend::Executable> load(const std::string& backend, const importer::Model& model,
                                          backend::LoadOptions options = {}) {
  return backend::make_backend(backend)->load(model, options);
}

TEST(TorchModels, SmallNetworkRunsOnBothBackendsAtAnyBatch) {
  const Graph graph = small_network();
  for (const char* backend : {"torch", "torchscript"}) {
    const auto executable = load(backend, model_of(graph), {.input_shapes = {{"x", {2, 3, 12, 12}}}});
    EXPECT_GT(executable->memory().weights, 0);
    for (const int64_t batch : {2, 1, 2}) {
      const std::vector<Tensor> inputs{random_tensor({batch, 3, 12, 12}, 11)};
      const Tensor expected = reference::run_graph(graph, inputs)[0];
      EXPECT_LE(relative_error(executable->run(inputs)[0], expected), kNetworkTolerance) << backend;
      EXPECT_LE(relative_error(executable->run(inputs)[0], expected), kNetworkTolerance) << "second run";
    }
  }
}

TEST(TorchModels, EagerKeepsEveryNodeAndScriptFoldsBatchNorm) {
  const Graph graph = small_network();
  const backend::LoadOptions options{.input_shapes = {{"x", {1, 3, 12, 12}}}};
  const auto eager = load("torch", model_of(graph), options);
  EXPECT_EQ(eager->steps().size(), graph.nodes.size());
  for (const auto& step : load("torchscript", model_of(graph), options)->steps()) {
    EXPECT_NE(step.kind, "aten::batch_norm");
  }
}

/// oneDNN pads 8 channels to 16, and PyTorch 1.13 computes these functions in place of padded images wrongly.
TEST(TorchModels, FunctionsOfChannelsThatOneDnnPads) {
  const auto network = [](const auto& function) {
    GraphBuilder b;
    const ValueId sum = b.conv(b.input("x", {1, 3, 24, 24}), 3, 8);
    return b.finish({b.conv(function(b, sum), 8, 8)});
  };
  const Graph graphs[] = {
      network([](GraphBuilder& b, ValueId x) { return b.node("HardSwish", {x}); }),
      network([](GraphBuilder& b, ValueId x) { return b.node("HardSigmoid", {x}); }),
      network([](GraphBuilder& b, ValueId x) {
        return b.node("Clip", {x, b.scalar(0.0f), b.scalar(6.0f)});
      }),
      network([](GraphBuilder& b, ValueId x) {
        return b.node("Clip", {x, b.scalar(-0.1f), b.scalar(0.2f)});
      }),
  };
  const std::vector<Tensor> inputs{random_tensor({1, 3, 24, 24}, 11)};
  for (const Graph& graph : graphs) {
    const Tensor expected = reference::run_graph(graph, inputs)[0];
    for (const char* backend : {"torch", "torchscript"}) {
      const auto [outputs, refusal] = run_on(backend, graph, inputs);
      ASSERT_EQ(refusal, "") << backend;
      EXPECT_LE(relative_error(outputs[0], expected), kNetworkTolerance)
          << backend << ", " << graph.nodes[1].op;
    }
  }
}

/// bfloat16 keeps 8 bits: one rounding is off by 2^-9 at most, and errors of 8 layers add up as a random
/// walk.
TEST(TorchModels, Bf16StaysNearFp32AndKeepsTheModelsTypes) {
  const Graph graph = small_network();
  const std::vector<Tensor> inputs{random_tensor({2, 3, 12, 12}, 11)};
  const Tensor expected = reference::run_graph(graph, inputs)[0];
  for (const char* backend : {"torch", "torchscript"}) {
    const auto [outputs, refusal] = run_on(backend, graph, inputs, {.precision = backend::Precision::kBf16});
    ASSERT_EQ(refusal, "") << backend;
    EXPECT_EQ(outputs[0].dtype(), DType::kFloat32);
    const double error = relative_error(outputs[0], expected);
    EXPECT_LE(error, 8 * 0x1p-8) << backend;
    EXPECT_GT(error, 0x1p-16) << "was it computed in float32? " << backend;
  }
}

TEST(TorchModels, OtherPrecisionsAreRefused) {
  const importer::Model model = model_of(small_network());
  for (const auto precision :
       {backend::Precision::kFp16, backend::Precision::kTf32, backend::Precision::kInt8}) {
    for (const char* backend : {"torch", "torchscript"}) {
      try {
        load(backend, model, {.precision = precision});
        ADD_FAILURE() << "loaded in " << backend::precision_name(precision);
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kEnvironment);
        EXPECT_THAT(error.what(), testing::HasSubstr(std::string(backend::precision_name(precision))));
      }
    }
  }
}

TEST(TorchModels, ARunIsAnUploadAnExecutionAndADownload) {
  const Graph graph = small_network();
  const std::vector<Tensor> inputs{random_tensor({2, 3, 12, 12}, 11)};
  for (const char* backend : {"torch", "torchscript"}) {
    const auto executable = load(backend, model_of(graph));
    const Tensor whole = executable->run(inputs)[0];
    executable->upload(inputs);
    for (int turn = 0; turn < 2; ++turn) {
      executable->execute();
      const std::vector<Tensor> parts = executable->download();
      ASSERT_EQ(parts.size(), 1u);
      EXPECT_EQ(relative_error(parts[0], whole), 0) << backend;
    }
  }
}

TEST(TorchModels, TheCpuHasNeitherPhasesNorAPipelineNorABus) {
  const Graph graph = small_network();
  const std::vector<std::vector<Tensor>> sets{{random_tensor({2, 3, 12, 12}, 11)}};
  for (const char* backend : {"torch", "torchscript"}) {
    const auto executable = load(backend, model_of(graph));
    executable->upload(sets[0]);
    EXPECT_FALSE(executable->has_phases()) << backend;
    EXPECT_EQ(executable->time_phases(/*cold=*/false).device_ms, 0) << backend;
    EXPECT_FALSE(executable->has_pipeline()) << backend;
    EXPECT_EQ(executable->make_pipeline(2, /*transfers=*/true, sets), nullptr) << backend;
    EXPECT_EQ(executable->bus_id(), "") << backend;
  }
}

/// The sentence of an environment error, or of its absence.
std::string environment_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kEnvironment) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(TorchModels, CudaGraphsNeedCuda) {
  const importer::Model model = model_of(small_network());
  EXPECT_EQ(environment_error([&] { load("torch-graph", model); }),
            "the backend torch-graph replays CUDA graphs, so it needs --device cuda");
}

TEST(TorchModels, AnOperatorThatIsNotCoveredIsNamed) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 1, 8});
  const Graph graph = b.finish({b.node("Hardmax", {x})});
  for (const std::string backend : {"torch", "torchscript"}) {
    EXPECT_EQ(run_on(backend, graph, {random_tensor({1, 1, 8}, 1)}).second,
              "backend " + backend + " cannot run node 'Hardmax1' (Hardmax)");
  }
}

TEST(TorchModels, WrongInputsAreRefused) {
  const Graph graph = small_network();
  const auto executable = load("torch", model_of(graph));
  EXPECT_THROW(executable->run(std::vector<Tensor>{}), Error);
  EXPECT_THROW(executable->run(std::vector<Tensor>{random_tensor({1, 4, 12, 12}, 1)}), Error);
  EXPECT_THROW(executable->run(std::vector<Tensor>{random_tensor({1, 3, 12, 12}, 1).cast(DType::kFloat64)}),
               Error);
}

/// Threads of this process, from the kernel.
int64_t process_threads() {
  int64_t count = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/task")) count += entry.exists();
  return count;
}

/// Helper threads that a convolution large enough to be split leaves behind.
int64_t helpers_with(int threads) {
  GraphBuilder b;
  const ValueId x = b.input("x", {1, 16, 64, 64});
  const Graph graph = b.finish({b.conv(x, 16, 16)});
  load("torch", model_of(graph), {.threads = threads})
      ->run(std::vector<Tensor>{random_tensor({1, 16, 64, 64}, 1)});
  return process_threads();
}

/// N threads are the caller and N - 1 helpers, in OpenMP's pool and, depending on how PyTorch was built, in a
/// second pool of the same size.
TEST(TorchModels, ThreadsAreHonoured) {
  const int64_t alone = helpers_with(1);
  const int64_t of_three = helpers_with(3) - alone;
  const int64_t of_five = helpers_with(5) - alone;
  EXPECT_TRUE(of_three == 2 || of_three == 4) << of_three;
  EXPECT_EQ(of_five, 2 * of_three);
}

/// The sentence and the exit code of a build without the plugin: program, library and manifest copied to a
/// tree of their own.
TEST(TorchModels, AMissingPluginIsOneSentence) {
  const fs::path tree = fs::path(testing::TempDir()) / "hone-without-plugins";
  const fs::path built = fs::path(base::library_folder()).parent_path();
  for (const char* file : {"bin/hone", "lib/libhone.so.0", "lib/libhone-torch.json"}) {
    fs::create_directories((tree / file).parent_path());
    fs::copy_file(built / file, tree / file, fs::copy_options::overwrite_existing);
  }
  const std::string command = (tree / "bin/hone").string() + " backends 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  for (char chunk[256]; std::fgets(chunk, sizeof chunk, pipe) != nullptr;) text += chunk;
  EXPECT_EQ(::pclose(pipe), 0);
  EXPECT_THAT(text,
              testing::HasSubstr("torch        not available: the plugin libhone-torch.so is not installed "
                                 "(cmake --install BUILD --prefix " +
                                 fs::canonical(tree).string() +
                                 " --component torch adds it where hone was built with it, which takes: apt "
                                 "install libtorch-dev"));
}

/// A module saved by Debian's python3-torch, with its output for an input of ones.
class TorchArchives : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string script =
        "import torch, sys\n"
        "torch.manual_seed(0)\n"
        "net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),\n"
        "                          torch.nn.Flatten(), torch.nn.Linear(144, 5)).eval()\n"
        "x = torch.ones(2, 3, 8, 8)\n"
        "torch.jit.trace(net, x).save(sys.argv[1])\n"
        "with torch.no_grad(): net(x).numpy().tofile(sys.argv[2])\n";
    std::ofstream(path("archive.py")) << script;
    const std::string command = "/usr/bin/python3 " + path("archive.py").string() + " " +
                                path("net.pt").string() + " " + path("expected.bin").string();
    ASSERT_EQ(std::system(command.c_str()), 0);
  }
  static fs::path path(const char* name) { return fs::path(testing::TempDir()) / name; }
  static importer::Model archive(const char* name) { return {name, path(name), nullptr}; }
};

TEST_F(TorchArchives, ALoadedArchiveRunsTruncatedOnesAreRefused) {
  std::vector<float> expected(10);
  std::ifstream(path("expected.bin"), std::ios::binary).read(reinterpret_cast<char*>(expected.data()), 40);
  const std::vector<Tensor> inputs{Tensor::of<float>(std::vector<float>(2 * 3 * 8 * 8, 1), {2, 3, 8, 8})};
  const auto executable = load("torchscript", archive("net.pt"));
  const auto outputs = executable->run(inputs);
  ASSERT_EQ(outputs.size(), 1U);
  EXPECT_LE(relative_error(outputs[0], Tensor::of<float>(expected, {2, 5})), kNetworkTolerance);
  EXPECT_GT(executable->memory().weights, 144 * 5 * 4);

  EXPECT_THROW(load("torch", archive("net.pt")), Error);
  EXPECT_THROW(load("torchscript", archive("net.pt"), {.input_shapes = {{"no_such_input", {1}}}}), Error);

  std::ifstream file(path("net.pt"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  for (const size_t size : {size_t{0}, size_t{3}, bytes.size() / 2, bytes.size() - 7}) {
    std::ofstream(path("cut.pt"), std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(size));
    try {
      load("torchscript", archive("cut.pt"));
      ADD_FAILURE() << "loaded " << size << " of " << bytes.size() << " bytes";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), 3);
      EXPECT_THAT(error.what(), testing::HasSubstr("cut.pt: not a TorchScript archive"));
    }
  }
}

}  // namespace
}  // namespace hone::test
