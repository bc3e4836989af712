#include "tests/harness/input_layout.h"

#include "tests/harness/case_builder.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace paged {
namespace {

/// What fresh device memory holds: NaN in every element type.
constexpr std::byte kFresh{0xFF};

CacheStrides strides_with(const CacheGaps& gaps, const DecodeProblem& problem) {
  const CacheStrides whole =
      contiguous_strides(problem.num_kv_heads, problem.head_size, problem.block_size);
  const std::int64_t head_stride = whole.head_stride + gaps.after_page;
  return {problem.num_kv_heads * head_stride + gaps.after_block, head_stride};
}

std::int64_t num_device_blocks(const DecodeProblem& problem, const InputLayout& layout) {
  return layout.blocks_before + problem.num_blocks();
}

std::int64_t query_stride_of(const DecodeProblem& problem, const InputLayout& layout) {
  return static_cast<std::int64_t>(problem.num_heads) * problem.head_size + layout.query_gap;
}

std::size_t bytes_of_query(const DecodeProblem& problem, std::int64_t stride) {
  return static_cast<std::size_t>(problem.num_seqs() * stride) * size_in_bytes(problem.scalar);
}

/// Valid entries rise by the blocks in front; padding stays what it is.
std::vector<std::int32_t> shifted_tables(const DecodeProblem& problem, std::int64_t shift) {
  std::vector<std::int32_t> tables = problem.block_tables;
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    for (int page = 0; page < num_pages(problem.seq_lens[seq], problem.block_size); ++page)
      tables[static_cast<std::size_t>(seq) * problem.max_num_blocks_per_seq + page] +=
          static_cast<std::int32_t>(shift);
  return tables;
}

/// From token to token and from KV head to KV head of a block, in elements.
struct TokenStrides {
  std::int64_t token, head;
};

/// Of the layouts in which a token's elements lie together.
TokenStrides token_strides(const DecodeProblem& problem, paged_cache_layout layout) {
  const std::int64_t row = problem.head_size;
  return layout == PAGED_TOKENS_THEN_HEADS ? TokenStrides{problem.num_kv_heads * row, row}
                                           : TokenStrides{row, problem.block_size * row};
}

using CacheIndex = std::int64_t (*)(const DecodeProblem&, std::int64_t, int, int, int);

/// The elements of a cache, each of a type of its size, in another order: pages lie one after the
/// other in the tensor, and `within` says where in a page an element (token, dimension) does.
template <typename Element>
void relay(const DecodeProblem& problem, const Tensor& tensor, TokenStrides strides,
           const std::vector<std::int64_t>& within, std::byte* to) {
  const auto* page = reinterpret_cast<const Element*>(tensor.data());
  auto* block_start = reinterpret_cast<Element*>(to);
  const auto per_page = static_cast<std::int64_t>(within.size());
  for (std::int64_t block = 0; block < problem.num_blocks(); ++block) {
    for (int head = 0; head < problem.num_kv_heads; ++head, page += per_page) {
      auto from = within.begin();
      for (int token = 0; token < problem.block_size; ++token) {
        Element* const row = block_start + token * strides.token + head * strides.head;
        for (int dim = 0; dim < problem.head_size; ++dim) row[dim] = page[*from++];
      }
    }
    block_start += problem.num_kv_heads * per_page;
  }
}

/// A cache in another layout than the tensor's; empty for the classic one.
std::vector<std::byte> relaid(const DecodeProblem& problem, const Tensor& tensor, CacheIndex index,
                              paged_cache_layout layout) {
  std::vector<std::byte> bytes;
  if (layout == PAGED_CLASSIC) return bytes;
  bytes.resize(tensor.size_in_bytes());
  std::vector<std::int64_t> within;  // [block_size, head_size], of the first page
  if (problem.num_blocks() > 0)
    for (int token = 0; token < problem.block_size; ++token)
      for (int dim = 0; dim < problem.head_size; ++dim)
        within.push_back(index(problem, 0, 0, token, dim));
  const TokenStrides strides = token_strides(problem, layout);
  switch (size_in_bytes(tensor.type())) {
    case 1:
      relay<std::uint8_t>(problem, tensor, strides, within, bytes.data());
      break;
    case 2:
      relay<std::uint16_t>(problem, tensor, strides, within, bytes.data());
      break;
    default:
      relay<std::uint32_t>(problem, tensor, strides, within, bytes.data());
  }
  return bytes;
}

}  // namespace

PlacedInputs::PlacedInputs(Device& device, const DecodeProblem& problem, const InputLayout& layout)
    : device_(device),
      problem_(problem),
      layout_(layout),
      query_stride_(query_stride_of(problem, layout)),
      tables_(shifted_tables(problem, layout.blocks_before)),
      query_(device, bytes_of_query(problem, query_stride_), "query"),
      block_tables_(device, sizeof(std::int32_t) * tables_.size(), "block_tables"),
      keys_{&problem.key_cache,
            relaid(problem, problem.key_cache, key_index, layout.cache_layout),
            "key_cache",
            nullptr,
            0,
            strides_with(layout.key_gaps, problem)},
      values_{&problem.value_cache,
              relaid(problem, problem.value_cache, value_index, layout.cache_layout),
              "value_cache",
              nullptr,
              0,
              strides_with(layout.value_gaps, problem)} {
  const auto bytes_of = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * size_in_bytes(problem.cache());
  };
  const std::int64_t blocks = num_device_blocks(problem, layout);
  std::int64_t key_elements = blocks * keys_.strides.block_stride;
  const std::int64_t value_elements = blocks * values_.strides.block_stride;
  if (layout.arrangement == CacheArrangement::apart) {
    keys_.buffer = std::make_shared<GuardedBuffer>(device, bytes_of(key_elements), "key_cache");
    values_.buffer =
        std::make_shared<GuardedBuffer>(device, bytes_of(value_elements), "value_cache");
  } else {
    if (layout.arrangement == CacheArrangement::interleaved) {
      key_elements = keys_.strides.block_stride;  // values begin behind the first block's keys
      keys_.strides.block_stride += values_.strides.block_stride;
      values_.strides.block_stride = keys_.strides.block_stride;
    }
    const std::int64_t both = layout.arrangement == CacheArrangement::interleaved
                                  ? blocks * keys_.strides.block_stride
                                  : key_elements + value_elements;
    keys_.buffer = values_.buffer =
        std::make_shared<GuardedBuffer>(device, bytes_of(both), "kv_cache");
    values_.first_byte = bytes_of(key_elements);
  }
  const std::size_t row =
      problem.num_seqs() == 0 ? 0 : problem.query.size_in_bytes() / problem.num_seqs();
  for (int seq = 0; seq < problem.num_seqs(); ++seq)
    device.upload(static_cast<std::byte*>(query_.data()) +
                      seq * query_stride_ * size_in_bytes(problem.scalar),
                  problem.query.data() + seq * row, row);
  block_tables_.upload(tables_.data());
  upload(keys_);
  upload(values_);
  forget_unused();
}

std::size_t PlacedInputs::piece_bytes() const {
  const std::size_t page = static_cast<std::size_t>(problem_.head_size) * problem_.block_size *
                           size_in_bytes(problem_.cache());
  return is_classic() ? page : page * problem_.num_kv_heads;
}

std::byte* PlacedInputs::piece(const Cache& cache, std::int64_t block, int index) const {
  return static_cast<std::byte*>(cache.buffer->data()) + cache.first_byte +
         page_offset(layout_.blocks_before + block, index, cache.strides) *
             static_cast<std::int64_t>(size_in_bytes(problem_.cache()));
}

/// Only pages are written, so that gaps stay as fresh memory is.
void PlacedInputs::upload(const Cache& cache) {
  if (cache.tensor->size_in_bytes() == 0) return;
  const CacheStrides whole =
      contiguous_strides(problem_.num_kv_heads, problem_.head_size, problem_.block_size);
  if (cache.strides.block_stride == whole.block_stride)
    return device_.upload(piece(cache, 0, 0), cache.content(), cache.tensor->size_in_bytes());
  const std::byte* next = cache.content();
  for (std::int64_t block = 0; block < problem_.num_blocks(); ++block)
    for (int i = 0; i < pieces_per_block(); ++i, next += piece_bytes())
      device_.upload(piece(cache, block, i), next, piece_bytes());
}

/// Marks what a kernel must not read: entries past a sequence's last page, blocks nobody owns.
void PlacedInputs::forget_unused() {
  for (int seq = 0; seq < problem_.num_seqs(); ++seq) {
    const std::int64_t row = static_cast<std::int64_t>(seq) * problem_.max_num_blocks_per_seq;
    const int used = num_pages(problem_.seq_lens[seq], problem_.block_size);
    device_.forget(static_cast<std::int32_t*>(block_tables_.data()) + row + used,
                   sizeof(std::int32_t) * (problem_.max_num_blocks_per_seq - used));
  }
  const std::vector<bool> owned = blocks_of(problem_, all_seqs(problem_));
  for (std::size_t block = 0; block < owned.size(); ++block)
    for (int i = 0; i < pieces_per_block() && !owned[block]; ++i)
      for (const Cache* cache : {&keys_, &values_})
        device_.forget(piece(*cache, static_cast<std::int64_t>(block), i), piece_bytes());
}

void PlacedInputs::set(paged_decode_args& args) const {
  args.num_blocks = num_device_blocks(problem_, layout_);
  args.query = query_.data();
  args.query_stride = query_stride_;
  args.key_cache = static_cast<std::byte*>(keys_.buffer->data()) + keys_.first_byte;
  args.value_cache = static_cast<std::byte*>(values_.buffer->data()) + values_.first_byte;
  args.key_block_stride = keys_.strides.block_stride;
  args.key_head_stride = keys_.strides.head_stride;
  args.value_block_stride = values_.strides.block_stride;
  args.value_head_stride = values_.strides.head_stride;
  args.cache_layout = layout_.cache_layout;
  if (!is_classic()) {
    const TokenStrides strides = token_strides(problem_, layout_.cache_layout);
    args.key_head_stride = args.value_head_stride = strides.head;
    args.key_token_stride = args.value_token_stride = strides.token;
  }
  args.block_tables = static_cast<const std::int32_t*>(block_tables_.data());
}

std::vector<std::string> PlacedInputs::damage() const {
  std::vector<std::string> damage;
  const auto look_at = [&](const GuardedBuffer& buffer, std::vector<std::byte> expected,
                           const char* name) {
    if (buffer.differs_from(expected.data()))
      damage.push_back(std::string("the kernel changed its input '") + name + "'");
    if (const std::string outside = buffer.damage(); !outside.empty()) damage.push_back(outside);
  };
  std::vector<std::byte> query(bytes_of_query(problem_, query_stride_), kFresh);
  const std::size_t row = static_cast<std::size_t>(problem_.num_heads) * problem_.head_size *
                          size_in_bytes(problem_.scalar);
  for (int seq = 0; seq < problem_.num_seqs(); ++seq)
    std::memcpy(query.data() + seq * query_stride_ * size_in_bytes(problem_.scalar),
                problem_.query.data() + seq * row, row);
  look_at(query_, query, "query");
  compare(keys_, damage);
  compare(values_, damage);
  const auto* tables = reinterpret_cast<const std::byte*>(tables_.data());
  look_at(block_tables_, {tables, tables + sizeof(std::int32_t) * tables_.size()}, "block_tables");
  return damage;
}

/// The pieces of one cache, and the gap behind each of them.
void PlacedInputs::compare(const Cache& cache, std::vector<std::string>& damage) const {
  const std::int64_t stride = is_classic() ? cache.strides.head_stride : cache.strides.block_stride;
  const std::size_t bytes = piece_bytes();
  std::vector<std::byte> content(static_cast<std::size_t>(stride) *
                                 size_in_bytes(problem_.cache()));
  bool page_changed = false;
  bool gap_changed = false;
  const std::byte* expected = cache.content();
  for (std::int64_t block = 0; block < problem_.num_blocks(); ++block)
    for (int i = 0; i < pieces_per_block(); ++i, expected += bytes) {
      device_.download(content.data(), piece(cache, block, i), content.size());
      page_changed = page_changed || std::memcmp(content.data(), expected, bytes) != 0;
      gap_changed = gap_changed || std::any_of(content.begin() + bytes, content.end(),
                                               [](std::byte byte) { return byte != kFresh; });
    }
  if (page_changed) damage.push_back("the kernel changed its input '" + cache.name + "'");
  if (gap_changed)
    damage.push_back("the kernel wrote between the pages of its input '" + cache.name + "'");
  if (const std::string outside = cache.buffer->damage(); !outside.empty())
    damage.push_back(outside);
}

}  // namespace paged
