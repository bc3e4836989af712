#include "tests/harness/named_cases.h"

#include "reference/input_error.h"

#include <algorithm>
#include <filesystem>

namespace paged {
namespace {

/// Set by the build: the folder tests/cases of the source tree.
const std::filesystem::path kCases = PAGED_CASES_DIRECTORY;

}  // namespace

std::vector<NamedCase> named_cases() {
  std::vector<NamedCase> cases;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(kCases, error))
    if (entry.path().extension() == ".json")
      cases.push_back({entry.path().stem().string(), read_case_file(entry.path()).description});
  std::sort(cases.begin(), cases.end(),
            [](const NamedCase& a, const NamedCase& b) { return a.name < b.name; });
  return cases;
}

CaseSpec find_case(const std::string& name_or_file) {
  const std::filesystem::path path = name_or_file;
  std::error_code error;
  const bool is_path = path.extension() == ".json" || name_or_file.find('/') != std::string::npos;
  if (is_path || std::filesystem::is_regular_file(path, error)) return read_case_file(path);
  const std::filesystem::path named = kCases / (name_or_file + ".json");
  if (std::filesystem::is_regular_file(named, error)) return read_case_file(named);
  std::string names;
  for (const NamedCase& known : named_cases()) names += (names.empty() ? "" : ", ") + known.name;
  throw InputError("there is no case named '" + name_or_file +
                   "' and no such file; named cases: " + names);
}

}  // namespace paged
