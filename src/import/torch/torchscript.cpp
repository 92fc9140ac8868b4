// A TorchScript archive is a zip file whose records are code and pickles.
#include "import/torch/torchscript.hpp"

#include <cstring>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/file_kind.hpp"
#include "import/foreign_file.hpp"
#include "tensor/zip.hpp"

namespace hone::importer {
namespace {

/// Records are never unpacked into files, but a name that would lead out of a folder is a sign of tampering.
void check_record_name(const std::string& name) {
  if (name.starts_with('/') || ("/" + name + "/").find("/../") != std::string::npos ||
      name.find_first_of(std::string_view("\\\0", 2)) != std::string::npos) {
    fail_bad_input("its record '{}' has a name that leads out of the archive", name);
  }
}

void check_torchscript(const std::filesystem::path& file) {
  const base::MappedFile map(file);
  const auto bytes = map.bytes();
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorKind::kBadInput,
                fmt::format("this is not a TorchScript archive (torch.jit.save makes one){}", why),
                file.string());
  };
  const auto refuse_foreign = [&] {
    if (const std::string foreign = foreign_file(file); !foreign.empty())
      throw Error(ErrorKind::kBadInput, foreign, file.string());
  };
  if (bytes.size() < 4 || std::memcmp(bytes.data(), "PK\3\4", 4) != 0) {
    refuse_foreign();
    const std::string_view kind =
        base::seeming_kind({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    fail(kind.empty() ? "" : fmt::format(": it is {}", kind));
  }
  // Only code is compressed.
  constexpr uint64_t kMaxCode = uint64_t{64} << 20;
  bool pickle = false;
  try {
    for (const tensor::ZipMember& member : tensor::list_zip(bytes, bytes.size() + kMaxCode)) {
      check_record_name(member.name);
      tensor::check_zip_member(member);
      pickle = pickle || member.name.ends_with("/data.pkl");
    }
  } catch (const Error& error) {
    fail(": " + error.sentence());
  }
  // torch.save and torch.export write archives of the same form, without code.
  refuse_foreign();
  if (!pickle) fail(": it has no record data.pkl");
}

}  // namespace

Model load_torchscript(const std::string& file, const LoadModelOptions& /*options*/) {
  const std::filesystem::path path(file);
  check_torchscript(path);
  return {path.stem().string(), path, nullptr, {}};
}

}  // namespace hone::importer
