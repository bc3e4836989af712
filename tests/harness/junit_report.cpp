#include "tests/harness/junit_report.h"

#include "tests/harness/one_line.h"

#include <algorithm>
#include <cstdio>
#include <map>

namespace paged {
namespace {

/// One <testcase>; no failure and no reason: it passed.
struct JUnitTest {
  std::string class_name, name;
  std::string failure, failure_type;
  std::string skipped;
  double seconds = 0;
};

struct JUnitSuite {
  std::string name;
  std::vector<JUnitTest> tests;
};

std::string attribute(const char* name, std::string_view value) {
  return std::string(" ") + name + "=\"" + xml_text(value) + "\"";
}

std::string counts_of(const std::vector<JUnitSuite>& suites) {
  std::size_t tests = 0, failures = 0, skipped = 0;
  for (const JUnitSuite& suite : suites)
    for (const JUnitTest& test : suite.tests) {
      ++tests;
      failures += test.failure.empty() ? 0 : 1;
      skipped += test.skipped.empty() ? 0 : 1;
    }
  return attribute("tests", std::to_string(tests)) +
         attribute("failures", std::to_string(failures)) + attribute("errors", "0") +
         attribute("skipped", std::to_string(skipped));
}

std::string xml_of(const JUnitTest& test, bool times) {
  std::string xml =
      "    <testcase" + attribute("classname", test.class_name) + attribute("name", test.name);
  if (times) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.6f", test.seconds);
    xml += attribute("time", seconds);
  }
  if (test.failure.empty() && test.skipped.empty()) return xml + "/>\n";
  xml += ">\n";
  if (!test.failure.empty())
    xml += "      <failure" + attribute("type", test.failure_type) +
           attribute("message", test.failure) + "/>\n";
  if (!test.skipped.empty()) xml += "      <skipped" + attribute("message", test.skipped) + "/>\n";
  return xml + "    </testcase>\n";
}

/// What is wrong with a result, or "".
std::string failure_of(const CheckResult& result) {
  if (result.as_expected()) return "";
  if (!result.verdict.held) return result.verdict.message;
  return "held, although the stage states that it breaks this";
}

JUnitSuite& suite_of(const std::string& name, std::vector<JUnitSuite>& suites) {
  const auto found = std::find_if(suites.begin(), suites.end(),
                                  [&](const JUnitSuite& suite) { return suite.name == name; });
  if (found != suites.end()) return *found;
  suites.push_back({name, {}});
  return suites.back();
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string xml;
  for (const char c : one_line(text)) switch (c) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      case '\'':
        xml += "&apos;";
        break;
      default:
        xml += c;
    }
  return xml;
}

std::string junit_of_checks(const std::vector<CheckResult>& results,
                            const std::vector<NotTried>& not_tried,
                            const BaselineComparison& comparison, bool times) {
  std::map<std::size_t, std::string> regressions;
  for (const Change& change : comparison.changes)
    if (change.kind == ChangeKind::worse && change.result) {
      std::string& text = regressions[*change.result];
      text += (text.empty() ? "" : "; ") + change.text;
    }
  std::vector<JUnitSuite> suites;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const CheckResult& result = results[i];
    JUnitTest test{result.stage + "." + result.invariant,
                   result.case_name,
                   failure_of(result),
                   result.invariant,
                   "",
                   result.verdict.record.seconds};
    if (const auto worse = regressions.find(i); worse != regressions.end()) {
      test.failure = worse->second;
      test.failure_type = "regression";
    }
    suite_of(result.stage + " (" + result.backend + ")", suites).tests.push_back(std::move(test));
  }
  for (const Change& change : comparison.changes)  // what was tried before, and is gone
    if (change.kind == ChangeKind::worse && !change.result)
      suite_of(change.stage + " (" + change.backend + ")", suites)
          .tests.push_back({change.stage + "." + change.invariant, change.case_name, change.text,
                            "regression", "", 0});
  for (const NotTried& left_out : not_tried)
    suite_of(left_out.stage + " (" + left_out.backend + ")", suites)
        .tests.push_back(
            {left_out.stage + "." + left_out.invariant, "not tried", "", "", left_out.reason, 0});
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" +
                    attribute("name", "paged check") + counts_of(suites) + ">\n";
  for (const JUnitSuite& suite : suites) {
    xml += "  <testsuite" + attribute("name", suite.name) + counts_of({suite}) + ">\n";
    for (const JUnitTest& test : suite.tests) xml += xml_of(test, times);
    xml += "  </testsuite>\n";
  }
  return xml + "</testsuites>\n";
}

}  // namespace paged
