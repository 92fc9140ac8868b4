// See live_site.hpp.
#include "report/page/live_site.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "import/image/encode.hpp"
#include "media/planar.hpp"

namespace hone::report {
namespace {

constexpr int kQuality = 80;
/// A viewer would not notice a higher rate of pictures.
constexpr auto kBetweenPictures = std::chrono::milliseconds(40);
/// The interval at which a server checks whether its client is still connected.
constexpr auto kMoment = std::chrono::seconds(1);

std::string jpeg_of(const media::Frame& frame) {
  return importer::encode_jpeg(media::interleaved(media::to_rgb(frame)), kQuality);
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      default: result += c;
    }
  }
  return result;
}

constexpr const char* kPage =
    "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
    "<link rel=\"stylesheet\" href=\"/live.css\"></head>"
    "<body><h1>{0}</h1><img src=\"/frames\" alt=\"The newest frame with its detections\"></body></html>\n";
constexpr const char* kStyle =
    "body{margin:0;background:#111;color:#ddd;font:14px sans-serif}h1{font-size:14px;margin:8px}"
    "img{display:block;max-width:100%;max-height:calc(100vh - 40px);margin:auto}\n";

}  // namespace

/// A multipart body in which each part is one picture.
class LiveSite::Viewer final : public BodyStream {
 public:
  explicit Viewer(LiveSite& site) : site_(site) {}
  ~Viewer() override {
    const std::lock_guard lock(site_.mutex_);
    --site_.viewers_;
  }
  Viewer(const Viewer&) = delete;
  Viewer& operator=(const Viewer&) = delete;

  bool next(std::string* piece) override {
    piece->clear();
    std::unique_lock lock(site_.mutex_);
    const auto has_more = [&] { return site_.number_ > seen_ || site_.ended_; };
    if (!site_.changed_.wait_for(lock, kMoment, has_more)) return true;
    if (site_.number_ == seen_) return false;
    seen_ = site_.number_;
    const std::shared_ptr<const std::string> picture = site_.picture_;
    lock.unlock();
    *piece =
        fmt::format("--frame\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n", picture->size());
    *piece += *picture;
    *piece += "\r\n";
    return true;
  }

 private:
  LiveSite& site_;
  uint64_t seen_ = 0;
};

LiveSite::LiveSite(std::string title) : title_(std::move(title)) {
  importer::encode_jpeg({1, 1, 3, {0, 0, 0}}, kQuality);
  encoder_ = std::thread([this] { encode(); });
}

LiveSite::~LiveSite() {
  end();
  encoder_.join();
}

void LiveSite::show(const media::Frame& frame) {
  const std::lock_guard lock(mutex_);
  waiting_ = frame;
  changed_.notify_all();
}

void LiveSite::end() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  changed_.notify_all();
}

void LiveSite::encode() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return ending_ || (waiting_ && viewers_ > 0); });
    if (waiting_ && viewers_ > 0) {
      const media::Frame frame = *std::exchange(waiting_, std::nullopt);
      lock.unlock();
      auto picture = std::make_shared<const std::string>(jpeg_of(frame));
      lock.lock();
      picture_ = std::move(picture);
      ++number_;
      changed_.notify_all();
    } else if (ending_) {
      ended_ = true;
      changed_.notify_all();
      return;
    }
    changed_.wait_for(lock, kBetweenPictures, [&] { return ending_; });
  }
}

SiteResponse LiveSite::answer(const SiteRequest& request) {
  if (request.path == "/") return {200, "text/html; charset=utf-8", fmt::format(kPage, escaped(title_)), {}};
  if (request.path == "/live.css") return {200, "text/css; charset=utf-8", kStyle, {}};
  if (request.path != "/frames") return {404, "text/plain; charset=utf-8", "there is no such page\n", {}};
  const std::lock_guard lock(mutex_);
  if (viewers_ >= kMostViewers)
    return {
        503, "text/plain; charset=utf-8", fmt::format("{} viewers are looking already\n", kMostViewers), {}};
  ++viewers_;
  changed_.notify_all();
  return {200, "multipart/x-mixed-replace; boundary=frame", {}, {}, std::make_shared<Viewer>(*this)};
}

std::string LiveSite::policy() const {
  return "default-src 'none'; img-src 'self'; style-src 'self'; frame-ancestors 'none'";
}

}  // namespace hone::report
