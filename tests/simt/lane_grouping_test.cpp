// Which accesses of lanes are taken for one instruction of their warp.
#include "kernels/simt/lane_grouping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace paged::simt {
namespace {

/// A site for each letter. The address is the index in the lane's sequence.
std::vector<LaneAccess> lane(const std::string& sites) {
  std::vector<LaneAccess> log;
  for (const char site : sites) log.push_back({log.size(), static_cast<std::uint32_t>(site - 'a')});
  return log;
}

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

/// "a: 0 1 | 0" for two instructions at site a, one of lanes 0 and 1 and one of lane 0: those with
/// most lanes first.
std::map<char, std::string> groups(const std::vector<std::string>& lanes) {
  std::vector<std::vector<LaneAccess>> logs;
  for (const std::string& sites : lanes) logs.push_back(lane(sites));
  std::map<char, std::vector<std::string>> all;
  std::size_t grouped = 0;
  LaneGrouping().group(logs, [&](std::uint32_t site, const WarpAccess& access) {
    std::string who;
    access.for_each([&](int which, std::uintptr_t index) {
      EXPECT_EQ(logs[static_cast<std::size_t>(which)][index].site, site);
      who += (who.empty() ? "" : " ") + std::to_string(which);
      ++grouped;
    });
    all[static_cast<char>('a' + site)].push_back(who);
  });
  std::size_t logged = 0;
  for (const auto& log : logs) logged += log.size();
  EXPECT_EQ(grouped, logged) << "each access is in one instruction";
  std::map<char, std::string> text;
  for (auto& [site, whos] : all) {
    std::stable_sort(whos.begin(), whos.end(), [](const std::string& a, const std::string& b) {
      return std::pair(b.size(), a) < std::pair(a.size(), b);
    });
    for (const std::string& who : whos) text[site] += (text[site].empty() ? "" : " | ") + who;
  }
  return text;
}

using Groups = std::map<char, std::string>;

TEST(LaneGroupingTest, EqualSequencesAreDoneTogether) {
  EXPECT_EQ(groups({"abab", "abab", "abab"}),
            (Groups{{'a', "0 1 2 | 0 1 2"}, {'b', "0 1 2 | 0 1 2"}}));
}

TEST(LaneGroupingTest, LanesThatTakeNoPartAreLeftOut) {
  EXPECT_EQ(groups({"", "a", "", "a"}), (Groups{{'a', "1 3"}}));
}

TEST(LaneGroupingTest, ALoopThatSomeLanesLeaveEarlierKeepsItsIterations) {
  EXPECT_EQ(groups({"abababc", "ababc"}),
            (Groups{{'a', "0 1 | 0 1 | 0"}, {'b', "0 1 | 0 1 | 0"}, {'c', "0 1"}}));
}

TEST(LaneGroupingTest, BranchesAreApartAndMeetBehind) {
  EXPECT_EQ(groups({"aac", "bc", "aac"}), (Groups{{'a', "0 2 | 0 2"}, {'b', "1"}, {'c', "0 1 2"}}));
}

TEST(LaneGroupingTest, DifferentIterationsThatLanesSkipAreApart) {
  // for (...) { if (...) a; b; }
  EXPECT_EQ(groups({"abb", "bab"}), (Groups{{'a', "0 | 1"}, {'b', "0 1 | 0 1"}}));
  // for (...) { b; if (...) a; }
  EXPECT_EQ(groups({"bab", "bba"}), (Groups{{'a', "0 | 1"}, {'b', "0 1 | 0 1"}}));
}

TEST(LaneGroupingTest, IterationsAreToldApartAlsoWhereLanesLeaveTheLoopEarlier) {
  // for (...) { if (...) { t; k; k; } s; }, of three and of two iterations
  EXPECT_EQ(groups({"sstkks", "tkkss"}),
            (Groups{{'k', "0 | 0 | 1 | 1"}, {'s', "0 1 | 0 1 | 0"}, {'t', "0 | 1"}}));
  EXPECT_EQ(groups({"tkksss", "stkkss"}),
            (Groups{{'k', "0 | 0 | 1 | 1"}, {'s', "0 1 | 0 1 | 0 1"}, {'t', "0 | 1"}}));
  // Nothing is passed equally often: three, two and two iterations.
  EXPECT_EQ(groups({"tssts", "tss", "sts"}),
            (Groups{{'s', "0 1 2 | 0 1 2 | 0"}, {'t', "0 1 | 0 | 2"}}));
}

TEST(LaneGroupingTest, InnerLoopsOfDifferentLengthsStayInTheirIterations) {
  EXPECT_EQ(
      groups({"tkkstkkks", "tkkkstkks"}),
      (Groups{{'k', "0 1 | 0 1 | 0 1 | 0 1 | 0 | 1"}, {'s', "0 1 | 0 1"}, {'t', "0 1 | 0 1"}}));
}

TEST(LaneGroupingTest, InnerLoopsOfSkippedIterationsAreApart) {
  const std::string inner = "t" + times(5, "qk");
  const auto found = groups({inner + "s" + "s" + inner + "s", "s" + inner + "s" + inner + "s"});
  EXPECT_EQ(found.at('s'), "0 1 | 0 1 | 0 1");
  EXPECT_EQ(found.at('t'), "0 1 | 0 | 1");
  EXPECT_EQ(found.at('k'), "0 1 | 0 1 | 0 1 | 0 1 | 0 1 | 0 | 0 | 0 | 0 | 0 | 1 | 1 | 1 | 1 | 1");
}

TEST(LaneGroupingTest, ThirtyTwoLanesFit) {
  const std::vector<std::string> lanes(32, "ab");
  const std::string who = groups(lanes).at('a');
  EXPECT_EQ(std::count(who.begin(), who.end(), ' '), 31);
}

// What the heading of lane_grouping.h says cannot be known.
TEST(LaneGroupingTest, SkippedIterationsWithNothingInCommonAreTakenForOne) {
  EXPECT_EQ(groups({"a", "a"}), (Groups{{'a', "0 1"}})) << "lane 0 in iteration 0, lane 1 in 1";
}

}  // namespace
}  // namespace paged::simt
