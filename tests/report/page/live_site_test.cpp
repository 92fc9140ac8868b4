// Frames shown while they come: to nobody, to slow viewers, to too many, and at the end.
#include "report/page/live_site.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/error.hpp"
#include "base/plugin.hpp"
#include "import/image/image.hpp"
#include "media/planar.hpp"

namespace hone::report {
namespace {

using ::testing::HasSubstr;

class LiveSiteTest : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      base::plugin_file("image");
    } catch (const Error&) {
      GTEST_SKIP() << "libhone-image.so is not built";
    }
  }
};

media::Frame grey(uint8_t level) {
  return media::frame_of({16, 8, 3, std::vector<uint8_t>(size_t{16} * 8 * 3, level)});
}

/// The next picture of a stream; empty at its end.
std::string picture_of(BodyStream& stream) {
  std::string piece;
  while (stream.next(&piece))
    if (!piece.empty()) return piece;
  return {};
}

TEST_F(LiveSiteTest, GivesTheNewestPicture) {
  LiveSite site("net.cfg: street.mp4");
  // Nobody looks: frames replace each other.
  for (int i = 0; i < 200; ++i) site.show(grey(static_cast<uint8_t>(i)));
  const SiteResponse response = site.answer({"/frames"});
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.type, "multipart/x-mixed-replace; boundary=frame");
  const std::string first = picture_of(*response.stream);
  const size_t body = first.find("\r\n\r\n");
  ASSERT_NE(body, std::string::npos);
  EXPECT_THAT(first, HasSubstr("--frame\r\nContent-Type: image/jpeg\r\nContent-Length: "));
  const std::string jpeg = first.substr(body + 4, first.size() - body - 6);
  EXPECT_THAT(first, HasSubstr(fmt::format("Content-Length: {}\r\n", jpeg.size())));
  const importer::ImageSize size = importer::inspect_image(std::as_bytes(std::span(jpeg)));
  EXPECT_EQ(size.width, 16);
  EXPECT_EQ(size.height, 8);
  site.end();
  EXPECT_EQ(picture_of(*response.stream), "");
}

TEST_F(LiveSiteTest, WaitsForNobody) {
  LiveSite site("t");
  const SiteResponse slow = site.answer({"/frames"});
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) site.show(grey(static_cast<uint8_t>(i)));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(2));
  site.show(grey(7));
  site.end();
  // A viewer that comes back late gets the last picture, and is through.
  int pictures = 0;
  while (!picture_of(*slow.stream).empty()) ++pictures;
  EXPECT_GE(pictures, 1);
  EXPECT_LE(pictures, 3);
}

TEST_F(LiveSiteTest, TheLastFrameIsShownBeforeTheEnd) {
  LiveSite site("t");
  const SiteResponse viewer = site.answer({"/frames"});
  site.show(grey(1));
  const std::string first = picture_of(*viewer.stream);
  site.show(grey(250));
  site.end();
  const std::string last = picture_of(*viewer.stream);
  EXPECT_NE(last, "");
  EXPECT_NE(last, first);
  EXPECT_EQ(picture_of(*viewer.stream), "");
}

TEST_F(LiveSiteTest, AStreamWithoutFramesSaysSoAndWaits) {
  LiveSite site("t");
  const SiteResponse viewer = site.answer({"/frames"});
  std::string piece = "x";
  EXPECT_TRUE(viewer.stream->next(&piece));
  EXPECT_EQ(piece, "");
}

TEST_F(LiveSiteTest, RefusesTooManyAndTakesThemLater) {
  LiveSite site("t");
  std::vector<SiteResponse> viewers;
  for (int i = 0; i < LiveSite::kMostViewers; ++i) viewers.push_back(site.answer({"/frames"}));
  const SiteResponse refused = site.answer({"/frames"});
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, "16 viewers are looking already\n");
  EXPECT_EQ(refused.stream, nullptr);
  viewers.pop_back();
  EXPECT_EQ(site.answer({"/frames"}).status, 200);
}

TEST_F(LiveSiteTest, ThePageNamesWhatIsShownAndNothingElseIsThere) {
  LiveSite site("<script>a & \"b\"</script>");
  const SiteResponse page = site.answer({"/"});
  EXPECT_THAT(page.body, HasSubstr("<title>&lt;script&gt;a &amp; &quot;b&quot;&lt;/script&gt;</title>"));
  EXPECT_THAT(page.body, HasSubstr("src=\"/frames\""));
  EXPECT_EQ(site.answer({"/live.css"}).status, 200);
  EXPECT_EQ(site.answer({"/../etc/passwd"}).status, 404);
}

}  // namespace
}  // namespace hone::report
