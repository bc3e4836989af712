// Which place of a text an edit of a source means.
#include "tests/harness/source_edit.h"

#include <gtest/gtest.h>

namespace paged {
namespace {

TEST(SourceEditTest, PlacesAreCountedWithoutOverlap) {
  EXPECT_EQ(nth_place("aaaa", "aa", 1), 0U);
  EXPECT_EQ(nth_place("aaaa", "aa", 2), 2U);
  EXPECT_EQ(nth_place("aaaa", "aa", 3), std::string::npos);
  EXPECT_EQ(nth_place("xaxa", "a", 0), 1U) << "0: the first, which is the only one";
  EXPECT_EQ(nth_place("xaxa", "a", 2), 3U);
  EXPECT_EQ(nth_place("xaxa", "b", 1), std::string::npos);
}

}  // namespace
}  // namespace paged
