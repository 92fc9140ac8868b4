// See option_names.hpp.
#include "cli/option_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "base/spelling.hpp"

namespace hone::cli {
namespace {

constexpr std::string_view kModel = "MODEL";

/// If a name occurs more than once, the first entry that fits the command is used.
constexpr auto kForeign = std::to_array<ForeignOption>({
    {"trtexec", "--onnx", "", kModel, ""},
    {"trtexec", "--model", "", kModel, ""},
    {"trtexec", "--loadEngine", "", kModel, ""},
    {"trtexec", "--saveEngine", "build", "--output", ""},
    {"trtexec", "--fp16", "build", "--precision fp16", ""},
    {"trtexec", "--bf16", "build", "--precision bf16", ""},
    {"trtexec", "--int8", "build", "--precision int8", "needs --calibrate or --calib"},
    {"hone", "--fp32", "build", "--precision fp32", ""},
    {"hone", "--tf32", "build", "--precision tf32", ""},
    {"hone", "--fp32", "", "--precisions fp32", ""},
    {"hone", "--tf32", "", "--precisions tf32", ""},
    {"trtexec", "--fp16", "", "--precisions fp16", ""},
    {"trtexec", "--bf16", "", "--precisions bf16", ""},
    {"trtexec", "--int8", "", "--precisions int8", ""},
    {"hone", "--fp32", "", "--precision fp32", ""},
    {"hone", "--tf32", "", "--precision tf32", ""},
    {"hone", "--fp16", "", "--precision fp16", ""},
    {"hone", "--bf16", "", "--precision bf16", ""},
    {"hone", "--int8", "", "--precision int8", ""},
    {"trtexec", "--best", "", "", "name the precisions: hone build --precision fp16+fp32"},
    {"trtexec", "--noTF32", "", "", "fp32 never uses TF32 here; tf32 is a precision of its own"},
    {"trtexec", "--shapes", "build", "--optShapes", ""},
    {"trtexec", "--warmUp", "bench", "--warmup", "the least warm-up in milliseconds, as there"},
    {"trtexec", "--warmUp", "profile", "",
     "milliseconds there; hone profile counts iterations: --warmup-iterations"},
    {"hone", "--warmup-ms", "bench", "--warmup", ""},
    {"hone", "--warmup-iterations", "profile", "--warmup", ""},
    {"trtexec", "--useCudaGraph", "", "", "engines run in CUDA graphs where they can"},
    {"trtexec", "--noDataTransfers", "", "", "the default; --includeDataTransfers counts them"},
    {"trtexec", "--avgRuns", "", "", "results hold every sample"},
    {"trtexec", "--loadInputs", "", "--input", ""},
    {"trtexec", "--exportTimes", "", "", "hone profile MODEL, then hone convert TRACE FOLDER --to trtexec"},
    {"trtexec", "--exportProfile", "", "",
     "hone bench MODEL --layers --json, or hone profile MODEL and hone convert TRACE FOLDER --to trtexec"},
    {"trtexec", "--exportLayerInfo", "", "",
     "hone bench MODEL --layers --json, or hone profile MODEL and hone convert TRACE FOLDER --to trtexec"},
    {"trtexec", "--exportOutput", "run", "--output", ""},
    {"trtexec", "--dumpProfile", "bench", "--layers", ""},
    {"trtexec", "--dumpLayerInfo", "bench", "--layers", ""},
    {"trtexec", "--dumpLayerInfo", "", "", "hone inspect ENGINE"},
    {"trtexec", "--memPoolSize", "", "", "there is no limit on workspace"},
    {"trtexec", "--verbose", "", "", "results and hone inspect --rivals hold the details"},
    {"trtexec", "--skipInference", "", "", "hone build only builds"},
    {"trtexec", "--plugins", "", "", "hone has no plugins for operators"},
    {"trtexec", "--dynamicPlugins", "", "", "hone has no plugins for operators"},
    {"onnxruntime_perf_test", "-m", "bench", "",
     "hone bench MODEL --iterations N (times), --duration S (duration)"},
    {"onnxruntime_perf_test", "-e", "", "", "--backends, --device"},
    {"onnxruntime_perf_test", "-r", "", "", "--iterations"},
    {"onnxruntime_perf_test", "-x", "", "", "--threads"},
    {"onnxruntime_perf_test", "-f", "", "", "--shapes"},
    {"onnxruntime_perf_test", "-I", "", "", "the default: inputs are generated"},
    {"benchmark_app", "-d", "", "", "--device"},
    {"benchmark_app", "-niter", "", "", "--iterations"},
    {"benchmark_app", "-nthreads", "", "", "--threads"},
    {"benchmark_app", "-nstreams", "", "", "--streams"},
    {"benchmark_app", "-nireq", "", "", "--streams"},
    {"benchmark_app", "-b", "", "", "--batches"},
    {"benchmark_app", "-shape", "", "", "--shapes"},
    {"benchmark_app", "-pc", "", "", "hone bench MODEL --layers"},
    {"benchmark_app", "-m", "", "", "the model, the first argument, which has no option"},
    {"benchmark_app", "-i", "", "", "--input"},
    {"benchmark_app", "-t", "", "", "--duration, in seconds"},
    {"nvprof", "--print-gpu-summary", "", "", "hone analyze TRACE --only summary"},
    {"nvprof", "--print-gpu-trace", "", "", "hone convert TRACE FOLDER --to csv"},
    {"nvprof", "--print-api-trace", "", "", "hone convert TRACE FOLDER --to csv"},
    {"nvprof", "--dependency-analysis", "", "", "hone analyze TRACE --only dependencies"},
    {"nvprof", "--export-profile", "profile", "--output", ""},
    {"nvprof", "--query-metrics", "profile", "--query-metrics", ""},
    {"nsys", "--trace", "profile", "", "everything that a program does on the GPU is recorded"},
    {"polygraphy", "--val-range", "", "", "--values NAME:VALUE, or --input with a file"},
    {"polygraphy", "--trt-min-shapes", "build", "--minShapes", ""},
    {"polygraphy", "--trt-opt-shapes", "build", "--optShapes", ""},
    {"polygraphy", "--trt-max-shapes", "build", "--maxShapes", ""},
    {"ultralytics", "--conf", "detect", "--threshold", ""},
    {"ultralytics", "--iou", "detect", "--overlap", ""},
    {"ultralytics", "--imgsz", "detect", "--size", ""},
    {"ultralytics", "--source", "detect", "--input", ""},
    {"ultralytics", "--save", "detect", "", "-o FILE"},
    {"ultralytics", "--classes", "detect", "", "every class is reported; filter the results by their class"},
    {"hone", "--score", "detect", "--threshold", ""},
    {"darknet", "-thresh", "detect", "", "--threshold"},
    {"darknet", "-out", "detect", "", "-o"},
    {"torch.profiler", "--with-stack", "", "", "stacks of Python are not recorded"},
    {"torch.profiler", "--record-shapes", "profile", "--record-shapes", ""},
});

/// Normalizes "--infStreams" and "--inf-streams" to "infstreams".
std::string normalized(std::string_view name) {
  std::string result;
  for (const char c : name) {
    if (c != '-' && c != '_') result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

bool has_option(const CLI::App& command, std::string_view name) {
  const std::vector<std::string> names = long_names(command);
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Returns the command's own option that differs from the written name only in case, hyphens, or singular and
/// plural.
std::optional<std::string> own_name(const CLI::App& command, const std::string& written) {
  const std::string wanted = normalized(written);
  const auto same = [&](const std::string& known) {
    const std::string name = normalized(known);
    return name == wanted || name == wanted + "s" || name == wanted + "es" || wanted == name + "s" ||
           wanted == name + "es";
  };
  const std::vector<std::string> names = long_names(command);
  const auto found = std::find_if(names.begin(), names.end(), same);
  return found == names.end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return words;
}

bool is_for(const ForeignOption& option, const CLI::App& command) {
  return option.command.empty() || option.command == command.get_name();
}

/// Returns the entry that can replace an option for this command; null if there is none.
const ForeignOption* alias_of(const CLI::App& command, const std::string& name) {
  for (const ForeignOption& option : kForeign) {
    if (option.words.empty() || normalized(option.name) != normalized(name) || !is_for(option, command))
      continue;
    const std::vector<std::string> words = split_words(option.words);
    if (words.front() == kModel || has_option(command, words.front())) return &option;
  }
  return nullptr;
}

const ForeignOption* remark_of(const CLI::App& command, const std::string& name) {
  const auto found = std::find_if(kForeign.begin(), kForeign.end(), [&](const ForeignOption& option) {
    return !option.remark.empty() && is_for(option, command) &&
           (name.starts_with("--") ? normalized(option.name) == normalized(name) : option.name == name);
  });
  return found == kForeign.end() ? nullptr : &*found;
}

/// Rewrites the words of one command.
class Rewriter {
 public:
  explicit Rewriter(const CLI::App& command) : command_(command) {}

  void add(const std::string& word, const std::string* next) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    if (!word.starts_with("--") || has_option(command_, name)) return keep(word);
    const bool has_value = equals != std::string::npos;
    const ForeignOption* alias = alias_of(command_, name);
    // If two tools count an option in different units, it only gets a remark, not a replacement.
    if (alias == nullptr && remark_of(command_, name) != nullptr) return keep(word);
    if (alias == nullptr) {
      const auto own = own_name(command_, name);
      return keep(own ? *own + (has_value ? word.substr(equals) : "") : word);
    }
    const std::vector<std::string> words = split_words(alias->words);
    if (words.front() != kModel) {
      for (size_t i = 0; i + 1 < words.size(); ++i) keep(words[i]);
      return keep(words.back() + (has_value ? word.substr(equals) : ""));
    }
    if (has_value) {
      models_.push_back(word.substr(equals + 1));
    } else if (next != nullptr) {
      models_.push_back(*next);
      skips_next_ = true;
    }
  }
  bool take_skip() { return std::exchange(skips_next_, false); }

  /// Models come first, because an option that takes any number of values would consume them too.
  std::vector<std::string> words() const {
    std::vector<std::string> words = models_;
    words.insert(words.end(), kept_.begin(), kept_.end());
    return words;
  }

 private:
  void keep(const std::string& word) { kept_.push_back(word); }

  const CLI::App& command_;
  std::vector<std::string> kept_;
  std::vector<std::string> models_;
  bool skips_next_ = false;
};

const CLI::App* command_named(const CLI::App& program, const std::string& name) {
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

}  // namespace

std::span<const ForeignOption> foreign_options() { return kForeign; }

std::vector<std::string> with_known_names(const CLI::App& program, std::vector<std::string> words) {
  if (words.empty()) return words;
  if (words.front() == "version" || words.front() == "-v" || words.front() == "-V")
    words.front() = "--version";
  if (words.front() == "--help" && words.size() == 2) words.front() = "help";
  const CLI::App* command = command_named(program, words.front());
  if (command == nullptr) return words;
  Rewriter rewriter(*command);
  for (size_t i = 1; i < words.size(); ++i) {
    rewriter.add(words[i], i + 1 < words.size() ? &words[i + 1] : nullptr);
    if (rewriter.take_skip()) ++i;
  }
  std::vector<std::string> result = {words.front()};
  const std::vector<std::string> rest = rewriter.words();
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

namespace {

/// Splits "--batch-sizes" into "batch" and "size": words of at least four letters, in the singular.
std::vector<std::string> parts_of(std::string_view name) {
  constexpr size_t kShortest = 4;
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '-' || c == '_' || (std::isupper(static_cast<unsigned char>(c)) != 0 && !parts.back().empty()))
      parts.emplace_back();
    if (c != '-' && c != '_') parts.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (std::string& part : parts) {
    if (part.ends_with("ches")) part.resize(part.size() - 2);
    if (part.ends_with('s')) part.pop_back();
  }
  std::erase_if(parts, [](const std::string& part) { return part.size() < kShortest; });
  return parts;
}

/// Returns the option that shares the most words with the name; if several do, the shortest one. Returns
/// nothing if no option shares a word.
std::optional<std::string> related_option(const CLI::App& command, const std::string& written) {
  const std::vector<std::string> wanted = parts_of(written);
  std::optional<std::string> best;
  std::ptrdiff_t most = 0;
  for (const std::string& name : long_names(command)) {
    const std::vector<std::string> parts = parts_of(name);
    const auto shared = std::count_if(wanted.begin(), wanted.end(), [&](const std::string& part) {
      return std::find(parts.begin(), parts.end(), part) != parts.end();
    });
    if (shared < most || shared == 0 || (shared == most && best && best->size() <= name.size())) continue;
    most = shared;
    best = name;
  }
  return best;
}

std::optional<std::string> nearest_option(const CLI::App& command, const std::string& name) {
  auto nearest = base::nearest_name(name, long_names(command));
  return nearest ? nearest : related_option(command, name);
}

}  // namespace

std::string unknown_word(const CLI::App& program, const CLI::App* command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  const auto meant = [](const std::optional<std::string>& nearest) {
    return nearest ? fmt::format("; did you mean {}?", *nearest) : "";
  };
  if (command == nullptr) {
    std::vector<std::string> names;
    for (const CLI::App* known : program.get_subcommands([](const CLI::App*) { return true; })) {
      if (!known->get_group().empty()) names.push_back(known->get_name());
    }
    const bool option = word.starts_with('-');
    return fmt::format("unknown {} '{}'{}", option ? "option" : "command", word,
                       option ? "; options follow the command" : meant(base::nearest_name(word, names)));
  }
  if (!word.starts_with('-')) return fmt::format("one argument too many: '{}'", word);
  if (const ForeignOption* foreign = remark_of(*command, name))
    return fmt::format("'{}' is an option of {}; here: {}", name, foreign->tool, foreign->remark);
  return fmt::format("unknown option '{}'{}", name, meant(nearest_option(*command, name)));
}

std::string foreign_table() {
  std::string text = "Options of other tools, and what they are called here:\n";
  std::string_view tool;
  for (const ForeignOption& option : kForeign) {
    if (option.tool == "hone") continue;
    if (option.tool != tool) text += fmt::format("\n{}\n", option.tool);
    tool = option.tool;
    std::string here(option.words);
    if (!option.remark.empty()) here += fmt::format("{}{}", here.empty() ? "" : "; ", option.remark);
    const std::string name =
        fmt::format("{}{}", option.name, option.command.empty() ? "" : fmt::format(" ({})", option.command));
    text += fmt::format("  {:<28} {}\n", name, here);
  }
  return text;
}

}  // namespace hone::cli
