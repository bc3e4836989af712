#include "tests/harness/normal_numbers.h"

#include "tests/harness/random.h"

#include <algorithm>
#include <deque>
#include <utility>

namespace paged {
namespace {

constexpr std::int64_t kMostKept = std::int64_t{1} << 17;  // 1 MiB a seed
constexpr std::size_t kSeeds = 48;  // as many as the cases of all invariants have, about

using Kept = std::shared_ptr<std::vector<double>>;

/// The kept numbers of a seed, which is then the latest.
Kept kept_of(std::uint64_t seed) {
  thread_local std::deque<std::pair<std::uint64_t, Kept>> latest;
  const auto found = std::find_if(latest.begin(), latest.end(),
                                  [&](const auto& entry) { return entry.first == seed; });
  Kept kept = found != latest.end() ? found->second : std::make_shared<std::vector<double>>();
  if (found != latest.end()) latest.erase(found);
  latest.emplace_front(seed, kept);
  if (latest.size() > kSeeds) latest.pop_back();
  return kept;
}

void draw(std::uint64_t seed, std::int64_t first, std::span<double> numbers) {
  Random random(seed);
  random.skip(2 * static_cast<std::uint64_t>(first));  // 2 a normal number
  for (double& number : numbers) number = random.normal();
}

}  // namespace

NormalNumbers::NormalNumbers(std::uint64_t seed) : seed_(seed), kept_(kept_of(seed)) {}

void NormalNumbers::copy(std::int64_t first, std::span<double> numbers) const {
  const std::int64_t end = first + static_cast<std::int64_t>(numbers.size());
  if (end > kMostKept) return draw(seed_, first, numbers);
  const auto drawn = static_cast<std::int64_t>(kept_->size());
  if (end > drawn) {
    kept_->resize(static_cast<std::size_t>(end));
    draw(seed_, drawn, std::span(*kept_).subspan(static_cast<std::size_t>(drawn)));
  }
  std::copy_n(kept_->begin() + first, numbers.size(), numbers.begin());
}

}  // namespace paged
