#include "kernels/simt/source_lines.h"

#include <gtest/gtest.h>

namespace paged::simt {
namespace {

TEST(SourceLines, AreRankedByTheirPlaceInTheSourceTreeWhereverThatLies) {
  for (const std::string tree :
       {"/opt/lab/", "/usr/src/lab/", "/srv/me/kernels/", "/k/kernels/simt/"}) {
    EXPECT_EQ(rank_of_line(tree + "stages/stage_01.cu:7", tree), 2) << tree;
    EXPECT_EQ(rank_of_line(tree + "kernels/reduction.cuh:7", tree), 1) << tree;
    EXPECT_EQ(rank_of_line(tree + "kernels/simt/barriers.h:7", tree), 0) << tree;
    EXPECT_EQ(rank_of_line("/usr/include/c++/12/bits/stl_vector.h:7", tree), 0) << tree;
    EXPECT_EQ(rank_of_line("/opt/gcc/lib/gcc/x86_64/12/include/immintrin.h:7", tree), 0) << tree;
    EXPECT_EQ(rank_of_line("/elsewhere/kernels/mine.cu:7", tree), 2) << tree;
  }
}

}  // namespace
}  // namespace paged::simt
