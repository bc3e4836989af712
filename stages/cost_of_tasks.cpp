#include "reference/cache_layout.h"
#include "stages/cost_of_parts.h"
#include "stages/cost_of_requests.h"

#include <algorithm>

namespace paged {

int TaskShape::pages_taking_part() const {
  return static_cast<int>(std::count_if(pages.begin(), pages.end(),
                                        [](const PageShape& page) { return page.takes_part; }));
}

int TaskShape::tokens_taking_part() const {
  int sum = 0;
  for (const PageShape& page : pages) sum += page.takes_part ? page.tokens : 0;
  return sum;
}

TaskShape task_of(const CallShape& call, int seq, int head, int first_token, int end_token) {
  const DecodeShape& shape = call.shape;
  const int seq_len = call.seq_lens[static_cast<std::size_t>(seq)];
  const int kv_head = kv_head_of(head, shape.num_heads, shape.num_kv_heads);
  const int stripe =
      call.sparsity.stripe_offset(head, shape.num_heads, kv_head, shape.num_kv_heads);
  TaskShape task{seq, head, first_token, end_token, {}};
  for (int page = first_token / shape.block_size; page < num_pages(end_token, shape.block_size);
       ++page)
    task.pages.push_back({page, std::min(shape.block_size, end_token - page * shape.block_size),
                          call.sparsity.takes_part(page, seq_len, shape.block_size, stripe)});
  return task;
}

TaskShape whole_head(const CallShape& call, int seq, int head) {
  return task_of(call, seq, head, 0, call.seq_lens[static_cast<std::size_t>(seq)]);
}

int scalar_bytes(const CallShape& call) {
  return static_cast<int>(size_in_bytes(call.shape.scalar));
}
int cache_bytes(const CallShape& call) { return static_cast<int>(size_in_bytes(call.shape.cache)); }

std::int64_t row_of(const CallShape& call, const TaskShape& task) {
  return static_cast<std::int64_t>(task.seq) * call.shape.num_heads + task.head;
}
std::int64_t query_byte(const CallShape& call, const TaskShape& task) {
  return (task.seq * call.query_stride + std::int64_t{task.head} * call.shape.head_size) *
         scalar_bytes(call);
}
std::int64_t output_byte(const CallShape& call, const TaskShape& task) {
  return row_of(call, task) * call.shape.head_size * scalar_bytes(call);
}
std::int64_t table_byte(const CallShape& call, const TaskShape& task, int page) {
  return 4 * (std::int64_t{task.seq} * call.shape.max_num_blocks_per_seq + page);
}
std::int64_t logit_byte(const CallShape& call, const TaskShape& task, int token) {
  return 4 * (row_of(call, task) * call.logits_stride + token);
}

Counts cost_of_task(const CallShape&, const TaskShape& task) {
  return kWarps * global_load(same_for_all(std::int64_t{4} * task.seq, 4));  // seq_lens[seq]
}

}  // namespace paged
