#include "tests/harness/nearest_names.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace paged {
namespace {

/// Letters to insert, to delete or to change, of V. I. Levenshtein.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_names(const std::string& wrong,
                                       const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& name : names) {
    const bool has = wrong.size() > 2 && (name.find(wrong) != std::string::npos ||
                                          wrong.find(name) != std::string::npos);
    const std::size_t letters = distance(wrong, name);
    if (has || 3 * letters <= std::max(wrong.size(), name.size()))
      near.emplace_back(has ? 0 : letters, name);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  near.resize(std::min(near.size(), kMost));
  std::vector<std::string> result;
  for (auto& [letters, name] : near) result.push_back(std::move(name));
  return result;
}

}  // namespace paged
