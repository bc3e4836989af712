#include "kernels/simt/block_order.h"

#include <algorithm>

namespace paged::simt {

BlockOrder::BlockOrder(const std::vector<BlockLog>& logs) : logs_(logs) {
  for (std::size_t log = 0; log < logs.size(); ++log)
    for (std::uint32_t number = 0; number < logs[log].atomics.size(); ++number) {
      const LoggedAtomic& atomic = logs[log].atomics[number];
      by_address_[atomic.address].push_back({atomic.turn, log, number});
    }
  for (auto& [address, events] : by_address_)
    std::sort(events.begin(), events.end(),
              [](const Event& a, const Event& b) { return a.turn < b.turn; });
}

bool BlockOrder::is_ordered(std::size_t a, std::uint32_t atomics_a, std::size_t b,
                            std::uint32_t atomics_b) {
  if (!has_atomics()) return false;
  if (a != from_ || atomics_a != from_atomics_) follow(a, atomics_a);
  return reached_[b] < atomics_b;
}

void BlockOrder::follow(std::size_t from, std::uint32_t atomics) {
  from_ = from;
  from_atomics_ = atomics;
  reached_.assign(logs_.size(), kNever);
  reached_[from] = atomics;
  struct Span {  // atomics of one block that have just been reached
    std::size_t log;
    std::uint32_t begin, end;
  };
  const auto all_after = [&](std::size_t log, std::uint32_t begin) {
    return Span{log, begin, static_cast<std::uint32_t>(logs_[log].atomics.size())};
  };
  std::vector<Span> spans = {all_after(from, atomics)};
  std::unordered_map<std::uintptr_t, std::uint64_t> turns_done;  // from there on, by address
  while (!spans.empty()) {
    const Span span = spans.back();
    spans.pop_back();
    for (std::uint32_t number = span.begin; number < span.end; ++number) {
      const LoggedAtomic& atomic = logs_[span.log].atomics[number];
      const auto [done, first] = turns_done.emplace(atomic.address, ~std::uint64_t{0});
      const std::vector<Event>& events = by_address_.at(atomic.address);
      auto later = std::upper_bound(
          events.begin(), events.end(), atomic.turn,
          [](std::uint64_t turn, const Event& event) { return turn < event.turn; });
      for (; later != events.end() && later->turn < done->second; ++later) {
        std::uint32_t& reached = reached_[later->log];
        if (later->number >= reached) continue;
        Span next = all_after(later->log, later->number);
        next.end = std::min(next.end, reached);
        reached = later->number;
        spans.push_back(next);
      }
      done->second = std::min(done->second, atomic.turn);
    }
  }
}

}  // namespace paged::simt
