#include "reference/sequence_tables.h"

#include "reference/input_error.h"

#include <algorithm>
#include <string>

namespace paged {
namespace {

int checked_block_size(int block_size) {
  if (block_size < 1)
    throw InputError("block_size is " + std::to_string(block_size) + ": it must be at least 1");
  return block_size;
}

std::string name(SequenceTables::SequenceId sequence) {
  return "sequence " + std::to_string(sequence);
}

// Asked before anything changes, so that an operation that needs several blocks gets all or none.
void require_free(const BlockAllocator& blocks, std::size_t needed, const char* where,
                  SequenceTables::SequenceId sequence) {
  if (static_cast<std::size_t>(blocks.num_free()) < needed)
    throw InputError(name(sequence) + " needs " + std::to_string(needed) + " more " + where +
                     " block" + (needed == 1 ? "" : "s") + ", but only " +
                     std::to_string(blocks.num_free()) + " of " +
                     std::to_string(blocks.num_blocks()) + " are free");
}

// Gives up the references to `blocks` in `from` for as many new blocks in `to`, which has them.
std::vector<BlockCopy> move_blocks(std::vector<BlockAllocator::BlockId>& blocks,
                                   BlockAllocator& from, BlockAllocator& to) {
  std::vector<BlockCopy> copies;
  copies.reserve(blocks.size());
  for (BlockAllocator::BlockId& block : blocks) {
    copies.push_back({block, to.allocate()});
    from.release(block);
    block = copies.back().to;
  }
  return copies;
}

}  // namespace

SequenceTables::SequenceTables(int block_size, int num_device_blocks, int num_host_blocks)
    : block_size_(checked_block_size(block_size)),
      device_(num_device_blocks),
      host_(num_host_blocks) {}

SequenceTables::SequenceId SequenceTables::create() {
  sequences_.emplace(next_id_, Sequence{});
  return next_id_++;
}

SequenceTables::SequenceId SequenceTables::fork(SequenceId parent) {
  const Sequence& copy = sequences_.emplace(next_id_, find(parent)).first->second;
  BlockAllocator& allocator = copy.on_device ? device_ : host_;
  for (BlockId block : copy.blocks) allocator.share(block);
  return next_id_++;
}

AppendedToken SequenceTables::append(SequenceId sequence) {
  Sequence& target = find(sequence);
  if (!target.on_device)
    throw InputError(name(sequence) + " is on the host: swap it in before appending to it");

  AppendedToken appended{};
  const int offset = target.length % block_size_;
  if (offset == 0) {
    require_free(device_, 1, "device", sequence);
    target.blocks.push_back(device_.allocate());
  } else if (const BlockId shared = target.blocks.back(); device_.ref_count(shared) > 1) {
    require_free(device_, 1, "device", sequence);
    target.blocks.back() = device_.allocate();
    device_.release(shared);
    appended.copies.push_back({shared, target.blocks.back()});
  }
  ++target.length;
  appended.slot = static_cast<std::int64_t>(target.blocks.back()) * block_size_ + offset;
  return appended;
}

void SequenceTables::free(SequenceId sequence) {
  const Sequence& target = find(sequence);
  BlockAllocator& allocator = target.on_device ? device_ : host_;
  for (BlockId block : target.blocks) allocator.release(block);
  sequences_.erase(sequence);
}

std::vector<BlockCopy> SequenceTables::swap_out(SequenceId sequence) {
  Sequence& target = find(sequence);
  if (!target.on_device) throw InputError(name(sequence) + " is already on the host");
  require_free(host_, target.blocks.size(), "host", sequence);
  target.on_device = false;
  return move_blocks(target.blocks, device_, host_);
}

std::vector<BlockCopy> SequenceTables::swap_in(SequenceId sequence) {
  Sequence& target = find(sequence);
  if (target.on_device) throw InputError(name(sequence) + " is already on the device");
  require_free(device_, target.blocks.size(), "device", sequence);
  target.on_device = true;
  return move_blocks(target.blocks, host_, device_);
}

bool SequenceTables::on_device(SequenceId sequence) const { return find(sequence).on_device; }

int SequenceTables::length(SequenceId sequence) const { return find(sequence).length; }

const std::vector<SequenceTables::BlockId>& SequenceTables::blocks(SequenceId sequence) const {
  return find(sequence).blocks;
}

std::int64_t SequenceTables::slot(SequenceId sequence, int token) const {
  const Sequence& target = find(sequence);
  if (token < 0 || token >= target.length)
    throw InputError(name(sequence) + " has no token " + std::to_string(token) + ": it has " +
                     std::to_string(target.length) + " tokens");
  const BlockId block = target.blocks[static_cast<std::size_t>(token / block_size_)];
  return static_cast<std::int64_t>(block) * block_size_ + token % block_size_;
}

std::vector<std::int32_t> SequenceTables::block_table(const std::vector<SequenceId>& sequences,
                                                      int width, std::int32_t padding) const {
  if (width < 0)
    throw InputError("table width is " + std::to_string(width) + ": it must be at least 0");
  for (SequenceId sequence : sequences) {
    const Sequence& row = find(sequence);
    if (!row.on_device)
      throw InputError(name(sequence) + " is on the host: a block table holds device blocks only");
    if (row.blocks.size() > static_cast<std::size_t>(width))
      throw InputError(name(sequence) + " has " + std::to_string(row.blocks.size()) +
                       " blocks, but a table row has " + std::to_string(width) + " entries");
  }

  std::vector<std::int32_t> table(sequences.size() * static_cast<std::size_t>(width), padding);
  auto row = table.begin();
  for (SequenceId sequence : sequences) {
    std::copy(blocks(sequence).begin(), blocks(sequence).end(), row);
    row += width;
  }
  return table;
}

const SequenceTables::Sequence& SequenceTables::find(SequenceId sequence) const {
  const auto found = sequences_.find(sequence);
  if (found == sequences_.end()) throw InputError("there is no " + name(sequence));
  return found->second;
}

SequenceTables::Sequence& SequenceTables::find(SequenceId sequence) {
  // One look-up serves both: this object is not const, so neither is what it holds.
  return const_cast<Sequence&>(static_cast<const SequenceTables&>(*this).find(sequence));
}

}  // namespace paged
