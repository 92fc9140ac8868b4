// Names of classes: Python's literals in metadata, files of other systems, COCO's ids.
#include "task/names.hpp"

#include <gtest/gtest.h>

#include "hone/error.hpp"

namespace hone::task {
namespace {

TEST(Names, ReadsWhatExportersWrite) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(names_from({{"names", "{0: 'person', 1: \"driver's seat\"}"}}),
            (Names{"person", "driver's seat"}));
  EXPECT_EQ(names_from({{"names", "['a', 'b,c', ]"}}), (Names{"a", "b,c"}));
  EXPECT_EQ(names_from({{"names", R"({"0": "a", "2": "c"})"}}), (Names{"a", "", "c"}));
  EXPECT_EQ(names_from({{"names", "{}"}}), Names{});
  EXPECT_EQ(names_from({{"labels", "x\r\ny\n\n"}}), (Names{"x", "y"}));
  EXPECT_EQ(names_from({}), Names{});
}

TEST(Names, RefusesWhatIsNoLiteral) {
  for (const char* text :
       {"__import__('os')", "{0: 1}", "{0: 'a'", "{-1: 'a'}", "{99999999: 'a'}", "['a'] x", "{0 'a'}"})
    EXPECT_THROW(names_from({{"names", text}}), Error) << text;
}

TEST(Names, ClassesWithoutANameHaveANumber) {
  EXPECT_EQ(name_of({"a", ""}, 0), "a");
  EXPECT_EQ(name_of({"a", ""}, 1), "class 1");
  EXPECT_EQ(name_of({"a"}, 7), "class 7");
  EXPECT_EQ(name_of({"a"}, -1), "class -1");
}

TEST(Names, CocosIdsHaveGaps) {
  std::vector<std::string> names(80, "x");
  EXPECT_EQ(coco_category(names, 79), 80) << "other classes count without gaps";
  names.front() = "person";
  names.back() = "toothbrush";
  EXPECT_EQ(coco_category(names, 0), 1);
  EXPECT_EQ(coco_category(names, 10), 11);  // fire hydrant
  EXPECT_EQ(coco_category(names, 11), 13);  // stop sign
  EXPECT_EQ(coco_category(names, 24), 27);  // backpack
  EXPECT_EQ(coco_category(names, 60), 67);  // dining table
  EXPECT_EQ(coco_category(names, 61), 70);  // toilet
  EXPECT_EQ(coco_category(names, 79), 90);
}

}  // namespace
}  // namespace hone::task
