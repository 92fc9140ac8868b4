// See page.hpp.
#include "report/page/page.hpp"

#include <zlib.h>

#include "report/page/document_schema.hpp"

namespace hone::report {
namespace {

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t here = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < here ? static_cast<uint8_t>(bytes[i + j]) : uint8_t{0});
    for (size_t j = 0; j < 4; ++j) text += j <= here ? kDigits[group >> (18 - 6 * j) & 63] : '=';
  }
  return text;
}

/// Escapes '<' in JSON, so that no name can end the script element. In JSON, '<' occurs only in strings.
std::string script_safe(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string safe;
  safe.reserve(text.size());
  for (const char c : text) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string page_policy() {
  constexpr std::string_view kBegin = "http-equiv=\"Content-Security-Policy\" content=\"";
  const std::string_view page = page_asset();
  const size_t begin = page.find(kBegin);
  if (begin == std::string_view::npos) fail_internal("the page has no content security policy");
  const std::string_view rest = page.substr(begin + kBegin.size());
  return std::string(rest.substr(0, rest.find('"'))) + "; frame-ancestors 'none'";
}

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(result.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED);
  if (status != Z_OK) fail_environment("zlib cannot compress {} bytes: error {}", bytes.size(), status);
  result.resize(size);
  return result;
}

Json to_json(const Report& report) { return base::described_json(report); }

std::string page_with(const Report& report) {
  const std::string_view page = page_asset();
  const size_t place = page.rfind("</body>");
  std::string text(page.substr(0, place));
  text +=
      "<script type=\"application/json\" id=\"hone-report\">" + script_safe(to_json(report)) + "</script>\n";
  for (const ReportProfile& profile : report.profiles) {
    if (!profile.timeline) continue;
    text += "<script type=\"application/octet-stream\" id=\"timeline-" + profile.id + "\">" +
            base64(deflated(profile.timeline->blob)) + "</script>\n";
  }
  text += page.substr(std::min(place, page.size()));
  return text;
}

}  // namespace hone::report
