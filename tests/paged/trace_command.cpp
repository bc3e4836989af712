// paged trace: from a logical token to its address.
#include "reference/cache_layout.h"
#include "reference/decode_attention.h"
#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/text_table.h"
#include "tests/paged/commands.h"
#include "tests/paged/options.h"

#include <iostream>

namespace paged {
namespace {

struct TraceRequest {
  std::vector<std::string> cases;
  int seq = 0;
  int head = 0;
  int token = -1;
};

void check_range(const char* option, int value, int count, const std::string& things) {
  if (value < 0 || value >= count)
    throw InputError(std::string(option) + " is " + std::to_string(value) + "; the case has " +
                     std::to_string(count) + " " + things +
                     (count > 0 ? " (0 to " + std::to_string(count - 1) + ")" : ""));
}

std::string decimal(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

/// Byte offset of an element of a contiguous cache.
std::int64_t bytes(const DecodeProblem& problem, std::int64_t element) {
  return element * static_cast<std::int64_t>(size_in_bytes(problem.cache()));
}

void print_token(const DecodeProblem& problem, const HeadAttention& attention, int seq, int kv_head,
                 int token) {
  const int page = token / problem.block_size;
  const int offset = token % problem.block_size;
  const int block = problem.block_table(seq)[page];
  const int x = key_vector_width(static_cast<int>(size_in_bytes(problem.cache())));
  std::cout << "token " << token << " -> logical block " << page << " (" << token << " / "
            << problem.block_size << "), offset " << offset << " (" << token << " % "
            << problem.block_size << "), physical block " << block << " (block_table[" << page
            << "])\n";
  const std::int64_t key = key_index(problem, block, kv_head, offset, 0);
  const std::int64_t value = value_index(problem, block, kv_head, offset, 0);
  std::cout << "key,   dimension 0: element " << key << ", byte " << bytes(problem, key)
            << " of the key cache; " << x << " dimensions follow at once, the next " << x << " "
            << bytes(problem, static_cast<std::int64_t>(x) * problem.block_size)
            << " bytes further\n";
  std::cout << "value, dimension 0: element " << value << ", byte " << bytes(problem, value)
            << " of the value cache; the next dimension lies " << bytes(problem, problem.block_size)
            << " bytes further\n";
  std::cout << "logit " << decimal(attention.logits[token]) << ", weight "
            << decimal(attention.weights[token]) << " (reference)\n";
}

void print_pages(const DecodeProblem& problem, const HeadAttention& attention, int seq,
                 int kv_head) {
  TextTable table(
      {"logical block", "tokens", "physical block", "key byte", "value byte", "weight"});
  const int seq_len = problem.seq_lens[seq];
  for (int page = 0; page < num_pages(seq_len, problem.block_size); ++page) {
    const int first = page * problem.block_size;
    const int count = std::min(problem.block_size, seq_len - first);
    const std::int64_t block = problem.block_table(seq)[page];
    table.add_row({std::to_string(page),
                   std::to_string(first) + "-" + std::to_string(first + count - 1),
                   std::to_string(block),
                   std::to_string(bytes(problem, key_index(problem, block, kv_head, 0, 0))),
                   std::to_string(bytes(problem, value_index(problem, block, kv_head, 0, 0))),
                   decimal(attention.weights.segment(first, count).sum())});
  }
  table.print(std::cout);
}

int run(const TraceRequest& request) {
  if (request.cases.size() != 1) throw InputError("trace takes one --case");
  const DecodeProblem problem = build_case(find_case(request.cases.front())).problem;
  check_range("--seq", request.seq, problem.num_seqs(), "sequences");
  check_range("--head", request.head, problem.num_heads, "query heads");
  const int seq_len = problem.seq_lens[request.seq];
  if (request.token != -1)
    check_range("--token", request.token, seq_len,
                "tokens in sequence " + std::to_string(request.seq));
  const int kv_head = kv_head_of(request.head, problem.num_heads, problem.num_kv_heads);
  const HeadAttention attention =
      attend(problem, gather(problem, request.seq, kv_head), request.seq, request.head);

  std::cout << "seq " << request.seq << " head " << request.head << " kv_head " << kv_head
            << " seq_len " << seq_len << '\n';
  if (request.token != -1)
    print_token(problem, attention, request.seq, kv_head, request.token);
  else
    print_pages(problem, attention, request.seq, kv_head);
  return kAllHeld;
}

}  // namespace

void add_trace_command(CLI::App& program, int& status) {
  auto* command = program.add_subcommand(
      "trace", "Follow a token through the block table: block, offset, physical block, address");
  auto request = std::make_shared<TraceRequest>();
  add_case_option(*command, request->cases);
  command->add_option("--seq", request->seq, "which sequence")->capture_default_str();
  command->add_option("--head", request->head, "which query head")->capture_default_str();
  command->add_option("--token", request->token, "which token; without it, all pages");
  command->callback([request, &status] { status = run(*request); });
}

}  // namespace paged
