// See foreign_file.hpp.
#include "import/foreign_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/shell_word.hpp"
#include "tensor/zip.hpp"

namespace hone::importer {
namespace {

using base::shell_word;

/// Longest part of a pickle that is searched.
constexpr size_t kMostPickle = size_t{64} << 20;

/// "net.onnx" of "folder/net.pth".
std::string onnx_name(const std::filesystem::path& file) { return file.stem().string() + ".onnx"; }

/// A command for the shell; the quotes of Python are inside those of the shell.
std::string python(const std::string& program) { return fmt::format("python3 -c '{}'", program); }

std::string module_line(const std::filesystem::path& file) {
  return fmt::format(
      "this is a network that torch.save pickled, which hone does not unpickle; if you trust it, export it "
      "to ONNX with "
      "inputs of your shape: {}",
      python(
          fmt::format("import torch; m = torch.load(\"{}\", weights_only=False).eval(); torch.onnx.export(m, "
                      "(torch.zeros(1, 3, 224, 224),), \"{}\")",
                      file.string(), onnx_name(file))));
}

std::string parameters_line(const std::filesystem::path& file) {
  return fmt::format(
      "these are parameters without a network (a state_dict that torch.save pickled); in the program that "
      "makes the "
      "network: net.load_state_dict(torch.load(\"{}\")); torch.onnx.export(net.eval(), (torch.zeros(1, 3, "
      "224, 224),), "
      "\"{}\"); for a built-in architecture see --weights",
      file.string(), onnx_name(file));
}

std::string to_safetensors(const std::filesystem::path& file) {
  return fmt::format(
      "these are pickled parameters of PyTorch, not safetensors; convert them: {}",
      python(fmt::format(
          "import torch, safetensors.torch as s; s.save_file(torch.load(\"{}\", weights_only=True), "
          "\"{}.safetensors\")",
          file.string(), file.stem().string())));
}

bool contains(std::span<const std::byte> bytes, std::string_view word) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              std::min(bytes.size(), kMostPickle));
  return text.find(word) != std::string_view::npos;
}

/// The pickle of a module holds the dictionary of torch.nn.Module; a state_dict holds only tensors by name.
bool holds_module(std::span<const std::byte> pickle) {
  return contains(pickle, "_modules") && contains(pickle, "_parameters");
}

enum class Kind { kNone, kModule, kUltralytics, kParameters, kExportedProgram, kKeras };

/// The kind of a pickle. Checkpoints of Ultralytics (YOLOv5 and later) keep the module in a dictionary, and
/// Ultralytics' own program exports it with the expected form of the outputs.
Kind kind_of_pickle(std::span<const std::byte> pickle) {
  if (!holds_module(pickle)) return Kind::kParameters;
  return contains(pickle, "ultralytics") ? Kind::kUltralytics : Kind::kModule;
}

bool has_member(const std::vector<tensor::ZipMember>& members, std::string_view name) {
  return std::any_of(members.begin(), members.end(), [&](const auto& member) {
    return member.name == name || member.name.ends_with("/" + std::string(name));
  });
}

Kind kind_of_archive(const std::vector<tensor::ZipMember>& members) {
  if (has_member(members, "serialized_exported_program.json") || has_member(members, "models/model.json"))
    return Kind::kExportedProgram;
  if (has_member(members, "model.weights.h5")) return Kind::kKeras;
  const bool script = has_member(members, "constants.pkl") ||
                      std::any_of(members.begin(), members.end(), [](const auto& member) {
                        return member.name.find("/code/") != std::string::npos;
                      });
  if (script) return Kind::kNone;
  for (const tensor::ZipMember& member : members) {
    if (!member.name.ends_with("/data.pkl")) continue;
    return kind_of_pickle(member.packed);
  }
  return Kind::kNone;
}

/// Recognizes archives of torch.save, bare pickles from before PyTorch 1.6, and files of torch.export and
/// Keras.
Kind kind_of(std::span<const std::byte> bytes) {
  constexpr std::string_view kZip = "PK\3\4";
  constexpr char kPickle = '\x80';
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  // The protocol number follows this byte; the header length in safetensors may begin with the same byte.
  if (text.size() > 1 && text[0] == kPickle && text[1] >= 2 && text[1] <= 5) return kind_of_pickle(bytes);
  if (!text.starts_with(kZip)) return Kind::kNone;
  try {
    return kind_of_archive(tensor::list_zip(bytes, bytes.size() + kMostPickle));
  } catch (const Error&) {
    return Kind::kNone;
  }
}

std::string tf2onnx(const char* what, const char* option, const std::filesystem::path& file) {
  return fmt::format("this is {}; convert it to ONNX: python3 -m tf2onnx.convert --{} {} --output {}", what,
                     option, shell_word(file.string()), shell_word(onnx_name(file)));
}

std::string keras_line(const std::filesystem::path& file) {
  return fmt::format(
      "this is a Keras model; export it to ONNX: {}",
      python(fmt::format("import keras; keras.saving.load_model(\"{}\").export(\"{}\", format=\"onnx\")",
                         file.string(), onnx_name(file))));
}

std::string of_its_kind(Kind kind, const std::filesystem::path& file) {
  switch (kind) {
    case Kind::kModule: return module_line(file);
    case Kind::kUltralytics:
      return fmt::format(
          "this is a checkpoint of Ultralytics, which hone does not unpickle; if you trust it, export it to "
          "ONNX: "
          "yolo export model={} format=onnx",
          shell_word(file.string()));
    case Kind::kParameters: return parameters_line(file);
    case Kind::kKeras: return keras_line(file);
    case Kind::kExportedProgram:
      return fmt::format(
          "this is a program of torch.export; export it to ONNX: {}",
          python(fmt::format("import torch; torch.onnx.export(torch.export.load(\"{}\"), f=\"{}\")",
                             file.string(), onnx_name(file))));
    case Kind::kNone: return "";
  }
  return "";
}

std::string foreign_folder(const std::filesystem::path& folder) {
  const auto has = [&](const char* name) {
    std::error_code unknown;
    return std::filesystem::exists(folder / name, unknown);
  };
  if (has("saved_model.pb")) return tf2onnx("a SavedModel of TensorFlow", "saved-model", folder);
  if (folder.extension() == ".mlpackage" || folder.extension() == ".mlmodelc")
    return "this is a Core ML model, which cannot be converted back; export the model that it was made from "
           "to ONNX";
  if (has("config.json"))
    return fmt::format(
        "this is a model of Hugging Face's transformers; export it to ONNX: optimum-cli export onnx --model "
        "{} {}",
        shell_word(folder.string()), shell_word(folder.filename().string() + "-onnx"));
  return "";
}

/// Kinds that are recognized by their first bytes.
std::string by_magic(std::string_view head, const std::filesystem::path& file) {
  constexpr size_t kFlatbufferName = 4;
  const std::string_view name = head.size() > kFlatbufferName ? head.substr(kFlatbufferName) : "";
  if (name.starts_with("TFL3")) return tf2onnx("a TensorFlow Lite model", "tflite", file);
  if (name.starts_with("ORTM"))
    return "this is ONNX Runtime's own format, which it does not convert back; give the .onnx file that it "
           "was made from";
  if (head.starts_with("\x89HDF")) return keras_line(file);
  if (head.starts_with("GGUF"))
    return "this is a GGUF file of llama.cpp; export the original model to ONNX: optimum-cli export onnx "
           "--model NAME FOLDER";
  return "";
}

std::string by_suffix(const std::filesystem::path& file) {
  const std::string suffix = file.extension().string();
  const auto is_one_of = [&](std::initializer_list<std::string_view> list) {
    return std::find(list.begin(), list.end(), suffix) != list.end();
  };
  if (suffix == ".tflite") return tf2onnx("a TensorFlow Lite model", "tflite", file);
  if (is_one_of({".h5", ".keras"})) return keras_line(file);
  if (is_one_of({".pb", ".pbtxt"}))
    return fmt::format(
        "this is a graph of TensorFlow; convert it to ONNX with the names of its ends: python3 -m "
        "tf2onnx.convert --graphdef {} --inputs NAME:0 --outputs NAME:0 --output {}",
        shell_word(file.string()), shell_word(onnx_name(file)));
  if (is_one_of({".mlmodel"}))
    return "this is a Core ML model, which cannot be converted back; export the model that it was made from "
           "to ONNX";
  if (is_one_of({".engine", ".plan", ".trt"}))
    return "this is an engine of TensorRT, which holds code for one GPU and no model; give the ONNX file "
           "that it was built from";
  if (is_one_of({".xml", ".bin"}))
    return "this is a model of OpenVINO, which cannot be converted back; give the ONNX file that it was made "
           "from";
  if (suffix == ".safetensors")
    return fmt::format(
        "these are parameters without a network; give them to a built-in architecture: hone bench NAME "
        "--weights {}; or export the model that they belong to to ONNX",
        shell_word(file.string()));
  if (is_one_of({".py", ".ipynb"}))
    return "this is source of Python; export the network that it makes: torch.onnx.export(net.eval(), "
           "(example,), \"net.onnx\")";
  return "";
}

}  // namespace

std::string foreign_file(const std::filesystem::path& file) {
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) return foreign_folder(file);
  // Reading from a pipe would consume its data.
  if (!std::filesystem::is_regular_file(file, unknown)) return by_suffix(file);
  try {
    const base::MappedFile map(file);
    const auto bytes = map.bytes();
    if (std::string sentence = of_its_kind(kind_of(bytes), file); !sentence.empty()) return sentence;
    constexpr size_t kHead = 16;
    const std::string_view head(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kHead));
    if (std::string sentence = by_magic(head, file); !sentence.empty()) return sentence;
  } catch (const Error&) {
    return "";
  }
  return by_suffix(file);
}

std::string foreign_weights(const std::filesystem::path& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return "";
  try {
    const base::MappedFile map(file);
    const Kind kind = kind_of(map.bytes());
    if (kind == Kind::kParameters) return to_safetensors(file);
    if (kind == Kind::kModule || kind == Kind::kUltralytics)
      return "this is a network that torch.save pickled; save its parameters instead: "
             "safetensors.torch.save_file(net.state_dict(), \"net.safetensors\")";
  } catch (const Error&) {
  }
  return file.extension() == ".onnx" ? "this is a model; --weights takes a .safetensors file" : "";
}

}  // namespace hone::importer
