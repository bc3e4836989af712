// Findings and counts as messages.
#pragma once
#include "kernels/counts.h"
#include "kernels/finding.h"
#include "walkthroughs/labs/channel.h"

#include <vector>

namespace paged::labs {

void put_findings(Channel& channel, const std::vector<Finding>& findings);
void put_counts(Channel& channel, const LaunchCounts& counts);

/// Both throw ChannelError for what cannot be findings or counts: whoever answers may be hostile.
std::vector<Finding> get_findings(Channel& channel);
LaunchCounts get_counts(Channel& channel);

}  // namespace paged::labs
