#include "kernels/simt/finding_log.h"

#include "kernels/simt/advice.h"
#include "kernels/simt/program_symbols.h"
#include "kernels/simt/source_lines.h"

#include <algorithm>

namespace paged::simt {

std::string text_of(const std::source_location& where) {
  return base_name(where.file_name()) + ":" + std::to_string(where.line());
}

namespace {

std::string location_of(const CodePlace& place, const SourceLines& lines) {
  const auto found = lines.find(place.pc);
  return found == lines.end() || found->second.empty() ? place.location : found->second;
}

}  // namespace

void BlockFindings::begin(std::uint64_t position) {
  position_ = position;
  findings_.clear();
}

bool BlockFindings::count_again(FindingKind kind, const CodePlace& place) {
  for (RecordedFinding& finding : findings_)
    if (finding.kind == kind && finding.place == place) {
      ++finding.count;
      return true;
    }
  return false;
}

void LaunchFindings::add_block(BlockFindings& block) {
  if (block.all().empty()) return;
  const std::lock_guard lock(mutex_);
  blocks_.push_back({block.position(), std::move(block.all())});
}

std::vector<RecordedFinding> LaunchFindings::up_to(std::uint64_t last_position) {
  std::sort(blocks_.begin(), blocks_.end(),
            [](const OfBlock& a, const OfBlock& b) { return a.position < b.position; });
  std::vector<RecordedFinding> all;
  for (const OfBlock& of_block : blocks_)
    if (of_block.position <= last_position)
      all.insert(all.end(), of_block.findings.begin(), of_block.findings.end());
  return all;
}

void FindingLog::add(const std::vector<RecordedFinding>& findings, bool stopped) {
  const std::lock_guard lock(mutex_);
  for (const RecordedFinding& finding : findings) {
    const auto equal =
        std::find_if(findings_.begin(), findings_.end(), [&](const RecordedFinding& known) {
          return known.kind == finding.kind && known.kernel == finding.kernel &&
                 known.place == finding.place;
        });
    if (equal == findings_.end())
      findings_.push_back(finding);
    else
      equal->count += finding.count;
  }
  if (stopped) stopped_ = true;
}

std::vector<Finding> FindingLog::take() {
  std::vector<RecordedFinding> findings;
  {
    const std::lock_guard lock(mutex_);
    findings.swap(findings_);
    stopped_ = false;
  }
  std::vector<std::uintptr_t> pcs;
  for (const RecordedFinding& finding : findings)
    for (const std::uintptr_t pc : {finding.place.pc, finding.other.pc})
      if (pc != 0) pcs.push_back(pc);
  const SourceLines lines = look_up_source_lines(pcs);

  std::vector<Finding> taken;
  for (const RecordedFinding& recorded : findings) {
    Finding finding{recorded.kind,
                    recorded.kernel == nullptr ? "" : kernel_name(recorded.kernel),
                    location_of(recorded.place, lines),
                    recorded.message,
                    recorded.advice == nullptr ? advice_for(recorded.kind) : recorded.advice,
                    recorded.count,
                    describe(recorded.schedule)};
    if (const std::string other = location_of(recorded.other, lines); !other.empty())
      finding.message += " at " + other;
    // The compiler may have made several copies of one line.
    const auto copy = std::find_if(taken.begin(), taken.end(), [&](const Finding& known) {
      return !finding.location.empty() && known.kind == finding.kind &&
             known.kernel == finding.kernel && known.location == finding.location;
    });
    if (copy == taken.end())
      taken.push_back(std::move(finding));
    else
      copy->count += finding.count;
  }
  return taken;
}

FindingLog& finding_log() {
  static FindingLog log;
  return log;
}

}  // namespace paged::simt
