// See file_kind.hpp.
#include "base/file_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace hone::base {
namespace {

/// Length of the beginning that decides.
constexpr size_t kLooksAt = 512;

constexpr std::string_view kLfsPointer = "a Git LFS pointer";
constexpr std::string_view kWebPage = "a web page";
constexpr std::string_view kJson = "JSON text";

constexpr std::pair<std::string_view, std::string_view> kMagics[] = {
    {"version https://git-lfs.github.com/spec/", kLfsPointer},
    {"\x89PNG\r\n", "a PNG image"},
    {"\xff\xd8\xff", "a JPEG image"},
    {"GIF8", "a GIF image"},
    {"\x93NUMPY", "a .npy array"},
    {"PK\3\4", "a zip archive"},
    {"\x1f\x8b", "a gzip file"},
    {"SQLite format 3", "an SQLite database"},
    {"\x7f"
     "ELF",
     "a program"},
    {"%PDF", "a PDF document"},
};

bool is_text(std::string_view head) {
  return std::ranges::all_of(head, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    constexpr unsigned char kDelete = 0x7f;
    constexpr unsigned char kNotInUtf8 = 0xf8;
    return (byte >= ' ' && byte != kDelete && byte < kNotInUtf8) || byte == '\n' || byte == '\r' ||
           byte == '\t' || byte == '\f';
  });
}

}  // namespace

std::string_view seeming_kind(std::string_view content) {
  for (const auto& [magic, kind] : kMagics) {
    if (content.starts_with(magic)) return kind;
  }
  std::string head(content.substr(0, kLooksAt));
  if (head.empty() || !is_text(head)) return "";
  head.erase(0, head.find_first_not_of(" \t\r\n\xef\xbb\xbf"));
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const std::string_view begin : {"<!doctype", "<html", "<?xml"}) {
    if (head.starts_with(begin)) return kWebPage;
  }
  return head.starts_with("{\"") || head.starts_with("[{") ? kJson : "text";
}

std::string other_kind_text(std::string_view content, std::string_view wanted, std::string_view advice) {
  const std::string_view kind = seeming_kind(content);
  if (kind == kLfsPointer) advice = "fetch the file with 'git lfs pull'";
  if (kind == kWebPage || kind == kJson) advice = "look at it to see what the download answered";
  return fmt::format("this is {}{}not {}: {}", kind, kind.empty() ? "" : ", ", wanted, advice);
}

}  // namespace hone::base
