// Banks of shared memory that the lanes of a request meet in.
#include "kernels/simt/wavefronts.h"
#include "walkthroughs/pictures/pictures.h"
#include "walkthroughs/pictures/traced_stage.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>

namespace paged {
namespace {

constexpr int kBanks = 32;
constexpr double kBanksLeft = 40;
constexpr double kBank = 26;
constexpr double kRow = 22;

/// One request to shared memory.
struct BankRequest {
  std::string title;
  std::vector<std::pair<int, std::int64_t>> lanes;  ///< lane and byte
  int bytes = 0;
  std::uint64_t wavefronts = 0;
};

BankRequest request_of(const std::string& title, const simt::TracedRequest& traced) {
  BankRequest request;
  request.title = title;
  for (int lane = 0; lane < 32; ++lane)
    if (traced.has(lane)) request.lanes.emplace_back(lane, traced.offsets[lane]);
  request.bytes = traced.bytes;
  request.wavefronts = traced.kind == simt::AccessKind::read
                           ? traced.counts.shared_load_wavefronts
                           : traced.counts.shared_store_wavefronts;
  return request;
}

/// The query as the classic kernel stages it, in its own type: [lane's offset in the group][vector].
/// No stage does so; the request is counted by the machine's model.
BankRequest classic_query(int head_size, int group_size, int vector_bytes, int element_bytes) {
  const int vectors = head_size * element_bytes / (group_size * vector_bytes);
  BankRequest request;
  request.title = "Not in any stage: the query in f16, kept as [offset in the group][vector]";
  request.bytes = vector_bytes;
  simt::WarpAccess access;
  for (int lane = 0; lane < 32; ++lane) {
    const std::int64_t byte = std::int64_t{lane % group_size} * vectors * vector_bytes;
    request.lanes.emplace_back(lane, byte);
    access.add(lane, static_cast<std::uintptr_t>(byte));
  }
  request.wavefronts = static_cast<std::uint64_t>(simt::shared_wavefronts(access, vector_bytes));
  return request;
}

/// "lanes 0, 2, ... 30"
std::string lanes_text(const std::vector<int>& lanes) {
  if (lanes.size() == 1) return "lane " + std::to_string(lanes[0]);
  const int step = lanes[1] - lanes[0];
  bool regular = true;
  for (std::size_t i = 1; i < lanes.size(); ++i) regular &= lanes[i] - lanes[i - 1] == step;
  if (regular && step == 1)
    return "lanes " + std::to_string(lanes.front()) + "-" + std::to_string(lanes.back());
  if (regular && lanes.size() > 3)
    return "lanes " + std::to_string(lanes[0]) + ", " + std::to_string(lanes[1]) + ", ... " +
           std::to_string(lanes.back());
  return std::to_string(lanes.size()) + " lanes";
}

/// Draws the rows of banks that a request touches; returns the height.
double draw(Svg& svg, double y, const BankRequest& request) {
  std::map<std::int64_t, std::vector<int>> lanes_by_address;
  for (const auto& [lane, byte] : request.lanes) lanes_by_address[byte].push_back(lane);
  std::set<std::int64_t> rows;
  for (const auto& [byte, lanes] : lanes_by_address) rows.insert(byte / 4 / kBanks);

  svg.text(20, y, request.title, "h");
  svg.text(20, y + 18,
           std::to_string(request.lanes.size()) + " lanes, " + std::to_string(request.bytes) +
               " bytes each, " + std::to_string(lanes_by_address.size()) +
               " different addresses: " + std::to_string(request.wavefronts) +
               (request.wavefronts == 1 ? " wavefront" : " wavefronts"));
  double top = y + 28;
  for (const std::int64_t row : rows) {
    for (int bank = 0; bank < kBanks; ++bank)
      svg.rectangle(kBanksLeft + bank * kBank, top, kBank - 2, kRow - 2, "idle");
    int index = 0;
    for (const auto& [byte, lanes] : lanes_by_address) {
      const auto first_bank = static_cast<int>(byte / 4 % kBanks);
      const double width = std::max(request.bytes / 4, 1) * kBank - 2;
      const bool even = index++ % 2 == 0;
      if (byte / 4 / kBanks != row) continue;
      svg.rectangle(kBanksLeft + first_bank * kBank, top, width, kRow - 2, even ? "a" : "b");
      const std::string text = width > 90          ? lanes_text(lanes)
                               : lanes.size() == 1 ? std::to_string(lanes[0])
                                                   : std::to_string(lanes.size()) + " l.";
      svg.text(kBanksLeft + first_bank * kBank + width / 2, top + 14, text, "small",
               Anchor::middle);
    }
    svg.text(kBanksLeft - 6, top + 14, std::to_string(row * kBanks), "small dim", Anchor::end);
    top += kRow;
  }
  return top - y + 30;
}

const simt::TracedRequest& first_of(const TracedStage& run, const std::string& memory,
                                    simt::AccessKind kind, Phase phase, int warp) {
  for (const simt::TracedRequest* request : requests_of(run, warp, memory, kind))
    if (request->shared && request->phase == phase) return *request;
  throw std::runtime_error("no request to '" + memory + "' in " + name_of(phase));
}

}  // namespace

std::vector<Picture> bank_pictures(Device& device) {
  CaseSpec spec = picture_case(64, 16, {7, 2, 9, 4}, 10);
  spec.head_size = 128;
  const TracedStage run = trace_stage(device, 4, spec);
  const std::vector<BankRequest> requests = {
      request_of("Query, staged as floats in its own order: a load of QK",
                 first_of(run, "query", simt::AccessKind::read, Phase::qk, 0)),
      classic_query(128, 2, 8, 2),
      request_of("Logits: the store of a page",
                 first_of(run, "dynamic_shared", simt::AccessKind::write, Phase::qk, 0)),
      request_of("Weights: a load of PV",
                 first_of(run, "dynamic_shared", simt::AccessKind::read, Phase::pv, 0)),
      request_of("Outputs of warp 2, handed to warp 0 in the weights' place: a store of PV",
                 first_of(run, "dynamic_shared", simt::AccessKind::write, Phase::pv, 2)),
  };
  Svg svg(900, 530, "Banks of shared memory",
          "Which of the 32 banks the lanes of a request go to, and how many passes (wavefronts) it "
          "takes. The same word for many lanes is one word; two words of one bank are two passes.");
  svg.text(20, 26, "Stage 4, head size 128, f16, 16 tokens a page: 32 banks of 4 bytes", "h");
  svg.text(20, 46,
           "A word that many lanes ask for is read once; different words of one bank take further "
           "passes.",
           "dim");
  double y = 78;
  for (const BankRequest& request : requests) y += draw(svg, y, request);
  for (int bank = 0; bank < kBanks; ++bank)
    svg.text(kBanksLeft + bank * kBank + kBank / 2 - 1, y - 12, std::to_string(bank), "small dim",
             Anchor::middle);
  svg.text(20, y + 4, "Numbers below: the bank. On the left: the first word of the row.",
           "small dim");
  return {{"banks.svg", svg.adaptive()}};
}

}  // namespace paged
