#include "walkthroughs/labs/device_messages.h"

#include <cstdint>

namespace paged::labs {
namespace {

/// Phases as numbers, none as -1.
std::int32_t number_of(const CountedPhase& phase) {
  return phase ? static_cast<std::int32_t>(*phase) : -1;
}

CountedPhase phase_of(std::int32_t number) {
  if (number < -1 || number > static_cast<std::int32_t>(Phase::reduce))
    throw ChannelError(ChannelError::Kind::garbled, "no such phase");
  return number < 0 ? std::nullopt : CountedPhase(static_cast<Phase>(number));
}

FindingKind get_kind(Channel& channel) {
  const auto kind = static_cast<FindingKind>(channel.get<std::int32_t>());
  if (*name_of(kind) == '\0') throw ChannelError(ChannelError::Kind::garbled, "no such finding");
  return kind;
}

}  // namespace

void put_findings(Channel& channel, const std::vector<Finding>& findings) {
  channel.put(static_cast<std::uint64_t>(findings.size()));
  for (const Finding& finding : findings) {
    channel.put(static_cast<std::int32_t>(finding.kind));
    for (const std::string* text :
         {&finding.kernel, &finding.location, &finding.message, &finding.advice, &finding.schedule})
      channel.put_text(*text);
    channel.put(finding.count);
  }
}

std::vector<Finding> get_findings(Channel& channel) {
  std::vector<Finding> findings(channel.get_count(1000));
  for (Finding& finding : findings) {
    finding.kind = get_kind(channel);
    for (std::string* text :
         {&finding.kernel, &finding.location, &finding.message, &finding.advice, &finding.schedule})
      *text = channel.get_text();
    finding.count = channel.get<std::uint64_t>();
  }
  return findings;
}

void put_counts(Channel& channel, const LaunchCounts& counts) {
  for (const CountedPhase& phase : kCountedPhases) channel.put(counts.phases[phase]);
  channel.put(static_cast<std::uint64_t>(counts.lines.size()));
  for (const CountedLine& line : counts.lines) {
    channel.put_text(line.line);
    channel.put(number_of(line.phase));
    channel.put(line.counts);
  }
  channel.put(static_cast<std::uint8_t>(counts.complete));
}

LaunchCounts get_counts(Channel& channel) {
  LaunchCounts counts;
  for (const CountedPhase& phase : kCountedPhases) counts.phases[phase] = channel.get<Counts>();
  counts.lines.resize(channel.get_count());
  for (CountedLine& line : counts.lines) {
    line.line = channel.get_text();
    line.phase = phase_of(channel.get<std::int32_t>());
    line.counts = channel.get<Counts>();
  }
  counts.complete = channel.get<std::uint8_t>() != 0;
  return counts;
}

}  // namespace paged::labs
