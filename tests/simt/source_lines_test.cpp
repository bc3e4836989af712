#include "kernels/simt/source_lines.h"

#include "kernels/simt/addr2line.h"
#include "tests/simt/planted_kernels.h"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
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

// Where llvm-addr2line tells of functions that the linker has dropped, and those of no code.
TEST(Addr2lineTest, AnswersForTheFirstAddress) {
  Addr2line process("/proc/self/exe");
  if (process.ask(nowhere(1)).empty()) GTEST_SKIP() << "there is no addr2line";
  EXPECT_GE(process.ask({0}).size(), 2U);
  EXPECT_EQ(process.ask({1, 0, 2}).back().front(), '?');
  EXPECT_TRUE(process.runs());
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

int open_sockets() {
  int sockets = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // as the one that reads the folder is
    sockets += std::filesystem::read_symlink(entry, gone).string().starts_with("socket:") ? 1 : 0;
  }
  return sockets;
}

// What it wrote there would be taken for its parent's.
TEST(Addr2lineTest, AChildCannotReachItsParents) {
  const int before = open_sockets();
  Addr2line process("/proc/self/exe");
  if (process.ask(nowhere(1)).empty()) GTEST_SKIP() << "there is no addr2line";
  EXPECT_EQ(open_sockets(), before + 1);
  const pid_t child = fork();
  if (child == 0) _exit(open_sockets() <= before ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// Stands first in the PATH while it lives, for a folder with programs of its own.
class FirstInPath {
 public:
  explicit FirstInPath(const std::string& folder) : old_(std::getenv("PATH")) {
    setenv("PATH", (folder + ":" + old_).c_str(), 1);
  }
  ~FirstInPath() { setenv("PATH", old_.c_str(), 1); }
  FirstInPath(const FirstInPath&) = delete;
  FirstInPath& operator=(const FirstInPath&) = delete;

 private:
  std::string old_;
};

TEST(Addr2lineTest, OneThatHangsIsEnded) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("paged_hanging_" + std::to_string(getpid()));
  fs::create_directory(folder);
  std::ofstream(folder / "addr2line") << "#!/bin/sh\nexec sleep 1000\n";
  fs::permissions(folder / "addr2line", fs::perms::owner_all);
  {
    const FirstInPath path(folder);
    Addr2line process("/proc/self/exe", std::chrono::milliseconds(100));
    EXPECT_TRUE(process.runs());
    EXPECT_TRUE(process.ask(nowhere(1)).empty());
    EXPECT_FALSE(process.runs());
  }
  fs::remove_all(folder);
}

// Processes that this thread has started, by the name of their program.
std::vector<pid_t> children_named(const std::string& name) {
  std::vector<pid_t> found;
  std::ifstream children("/proc/self/task/" + std::to_string(gettid()) + "/children");
  for (pid_t child = 0; children >> child;) {
    std::ifstream file("/proc/" + std::to_string(child) + "/comm");
    std::string of_child;
    std::getline(file, of_child);
    if (of_child == name) found.push_back(child);
  }
  return found;
}

std::string line_of(void (*function)(Device&)) {
  const auto address = reinterpret_cast<std::uintptr_t>(function) + 1;  // as if that returned there
  return look_up_source_lines({address}).at(address);
}

// As by those who end all that this process has started, and wait for it.
TEST(SourceLines, AreLookedUpAlsoWhereAddr2lineWasEndedMeanwhile) {
  const std::vector<PlantedKernel> planted = cpu_checked::planted_kernels();
  const PlantedKernel& first = planted.front();
  const PlantedKernel& last = planted.back();
  if (line_of(first.run).empty()) GTEST_SKIP() << "there is no addr2line";
  const std::vector<pid_t> started = children_named("addr2line");
  ASSERT_FALSE(started.empty());
  for (const pid_t process : started) {
    kill(process, SIGKILL);
    EXPECT_EQ(waitpid(process, nullptr, 0), process);
  }
  EXPECT_TRUE(line_of(last.run).starts_with(last.file + ":")) << line_of(last.run);
}

TEST(Addr2lineTest, OneThatIsNotThereSaysNothing) {
  Addr2line process("/no/such/file");
  EXPECT_TRUE(process.ask(nowhere(3)).empty());
  EXPECT_FALSE(process.runs());
}

}  // namespace
}  // namespace paged::simt
