#include "kernels/simt/source_lines.h"

#include "kernels/simt/addr2line.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

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

// Of addr2line's own program, which /proc/self/exe is to it; there is no code there: each is
// answered by itself and one line.
std::vector<std::uintptr_t> nowhere(std::size_t count) {
  std::vector<std::uintptr_t> addresses(count);
  for (std::size_t i = 0; i < count; ++i) addresses[i] = i + 1;
  return addresses;
}

TEST(Addr2lineTest, AnswersAsOftenAsItIsAsked) {
  Addr2line process("/proc/self/exe");
  if (process.ask(nowhere(1)).empty()) GTEST_SKIP() << "there is no addr2line";
  for (const std::size_t count : {1U, 2U, 32U, 33U, 500U}) {
    const std::vector<std::string> lines = process.ask(nowhere(count));
    ASSERT_EQ(lines.size(), 2 * count);
    EXPECT_EQ(std::stoul(lines[2 * count - 2], nullptr, 16), count);
    EXPECT_TRUE(process.runs());
  }
}

TEST(Addr2lineTest, AChildHasItsOwn) {
  Addr2line process("/proc/self/exe");
  if (process.ask(nowhere(1)).empty()) GTEST_SKIP() << "there is no addr2line";
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = !process.runs() && process.ask(nowhere(1)).empty();
    const bool answered = Addr2line("/proc/self/exe").ask(nowhere(3)).size() == 6;
    _exit(refused && answered ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(process.ask(nowhere(2)).size(), 4U);
}

TEST(Addr2lineTest, OneThatIsNotThereSaysNothing) {
  Addr2line process("/no/such/file");
  EXPECT_TRUE(process.ask(nowhere(3)).empty());
  EXPECT_FALSE(process.runs());
}

}  // namespace
}  // namespace paged::simt
