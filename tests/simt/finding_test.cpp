// Planted mistakes are found, where they are and as what they are; clean look-alikes are not.
#include "kernels/simt/worker_pool.h"
#include "tests/simt/every_backend.h"
#include "tests/simt/planted_kernels.h"
#include "tests/simt/schedule_scope.h"

#include <algorithm>
#include <fstream>

namespace paged {
namespace {

struct Case {
  PlantedKernel planted;
  bool checked;
};

void PrintTo(const Case& planted, std::ostream* out) { *out << planted.planted.name; }

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const PlantedKernel& planted : cpu_checked::planted_kernels())
    all.push_back({planted, true});
  for (const PlantedKernel& planted : cpu_unchecked::planted_kernels())
    if (!planted.needs_checker) all.push_back({planted, false});
  return all;
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.planted.name + (info.param.checked ? "_checked" : "_unchecked");
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

// "planted_barriers.cu:17", by the comment that marks the line.
std::string marked_line(const PlantedKernel& planted) {
  std::ifstream source(std::string(SIMT_TEST_FOLDER "/") + planted.file);
  const std::string mark = "// mistake: " + planted.name;
  std::string line;
  for (int number = 1; std::getline(source, line); ++number)
    if (line.size() >= mark.size() && line.ends_with(mark))
      return planted.file + ":" + std::to_string(number);
  return "no line marked '" + mark + "'";
}

class Planted : public ::testing::TestWithParam<Case> {};

TEST_P(Planted, IsFoundIfAndOnlyIfItIsAMistake) {
  const PlantedKernel& planted = GetParam().planted;
  cpu_device().take_findings();
  planted.run(cpu_device());
  const std::vector<Finding> findings = cpu_device().take_findings();

  ASSERT_EQ(findings.size(), planted.expected.size())
      << (findings.empty() ? "nothing" : to_string(findings[0]));
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const Finding& finding = findings[i];
    const ExpectedFinding& expected = planted.expected[i];
    EXPECT_EQ(finding.kind, expected.kind) << to_string(finding);
    EXPECT_EQ(finding.kernel, expected.kernel);
    EXPECT_NE(finding.message.find(expected.in_message), std::string::npos)
        << finding.message << "\nlacks\n"
        << expected.in_message;
    if (expected.has_line) {
      EXPECT_EQ(finding.location, marked_line(planted)) << to_string(finding);
    }
    EXPECT_FALSE(finding.advice.empty());
    EXPECT_EQ(finding.advice.find("; "), std::string::npos) << "it is one part of a message";
    // Who has no mbarrier is not told about them.
    if (finding.kind == FindingKind::deadlock) {
      EXPECT_EQ(finding.advice.find("mbarrier") == std::string::npos,
                finding.message.find("mbarrier") == std::string::npos)
          << to_string(finding);
    }
    EXPECT_EQ(to_string(finding).find('\n'), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(OnTheCpu, Planted, ::testing::ValuesIn(cases()), name_of);

// Everything about the findings of a launch in one text.
std::string text_of_findings() {
  std::string text;
  for (const Finding& finding : cpu_device().take_findings()) text += to_string(finding) + "\n";
  return text;
}

TEST(Findings, DoNotDependOnTheNumberOfWorkers) {
  const int before = simt::worker_count();
  for (const PlantedKernel& planted : cpu_checked::planted_kernels()) {
    simt::set_worker_count(1);
    planted.run(cpu_device());
    const std::string alone = text_of_findings();
    simt::set_worker_count(5);
    planted.run(cpu_device());
    EXPECT_EQ(text_of_findings(), alone) << planted.name;
  }
  simt::set_worker_count(before);
}

// Also with other schedules, and when it happens again.
TEST(Findings, OfASeedDoNotDependOnTheNumberOfWorkers) {
  const int before = simt::worker_count();
  for (const simt::Schedule& schedule : every_schedule(2)) {
    const ScheduleScope scope(schedule);
    for (const PlantedKernel& planted : cpu_checked::planted_kernels()) {
      simt::set_worker_count(1);
      planted.run(cpu_device());
      const std::string alone = text_of_findings();
      simt::set_worker_count(5);
      planted.run(cpu_device());
      EXPECT_EQ(text_of_findings(), alone) << planted.name << ", " << simt::describe(schedule);
    }
  }
  simt::set_worker_count(before);
}

/// A read of bytes that a copy brings is "before arrival" if it comes before the copy's wait, else
/// a race with the copy: without order, either.
std::string name_in_any_order(FindingKind kind) {
  return name_of(kind == FindingKind::read_before_arrival ? FindingKind::data_race : kind);
}

std::vector<std::string> kinds_of(const std::vector<Finding>& findings) {
  std::vector<std::string> kinds;
  for (const Finding& finding : findings) kinds.emplace_back(name_in_any_order(finding.kind));
  return kinds;
}

// Mistakes that show as another one, or as two, if a thread comes before what it should wait for.
bool shows_differently_in_other_orders(const std::string& name) {
  for (const char* const one : {"bulk wait by one thread", "init without a barrier",
                                "wait for the other tile", "wait for the phase before"})
    if (name == one) return true;
  return false;
}

// Which threads meet depends on the order, not whether they do.
TEST(Findings, AreOfTheSameKindUnderEverySchedule) {
  for (const PlantedKernel& planted : cpu_checked::planted_kernels()) {
    std::vector<std::string> expected;
    for (const ExpectedFinding& finding : planted.expected)
      expected.emplace_back(name_in_any_order(finding.kind));
    for (const simt::Schedule& schedule : every_schedule(5)) {
      const ScheduleScope scope(schedule);
      planted.run(cpu_device());
      const std::vector<Finding> findings = cpu_device().take_findings();
      if (shows_differently_in_other_orders(planted.name))
        EXPECT_FALSE(findings.empty()) << planted.name << ", " << simt::describe(schedule);
      else
        EXPECT_EQ(kinds_of(findings), expected)
            << planted.name << ", " << simt::describe(schedule) << ": "
            << (findings.empty() ? "nothing" : to_string(findings[0]));
    }
  }
}

TEST(Findings, HaveThreeMistakesAndThreeLookAlikesOfEveryKind) {
  for (int number = 0; number <= static_cast<int>(FindingKind::stack_overflow); ++number) {
    const auto kind = static_cast<FindingKind>(number);
    int mistakes = 0;
    int look_alikes = 0;
    for (const PlantedKernel& planted : cpu_checked::planted_kernels()) {
      for (const ExpectedFinding& expected : planted.expected) mistakes += expected.kind == kind;
      look_alikes += planted.looks_like == kind;
      EXPECT_EQ(planted.expected.empty(), planted.looks_like.has_value()) << planted.name;
    }
    EXPECT_GE(mistakes, 3) << name_of(kind);
    EXPECT_GE(look_alikes, 3) << name_of(kind);
  }
}

TEST(Findings, LeaveTheMachineUsable) {
  for (const PlantedKernel& planted : cpu_checked::planted_kernels()) planted.run(cpu_device());
  cpu_device().take_findings();
  const DeviceArray<int> out(cpu_device(), 2 * 1024, "results");
  cpu_checked::sample_kernels().linear_indices({2, 1, 1}, {1024, 1, 1}, out.data());
  const std::vector<int> results = out.to_host();
  for (int i = 0; i < 2048; ++i) ASSERT_EQ(results[i], i);
  EXPECT_EQ(text_of_findings(), "");
}

}  // namespace
}  // namespace paged
