// paged trace: from a logical token to its address.
#include "reference/cache_layout.h"
#include "reference/decode_attention.h"
#include "reference/input_error.h"
#include "tests/harness/case_builder.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/text_table.h"
#include "tests/harness/wrapped_text.h"
#include "tests/paged/commands.h"
#include "tests/paged/options.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <limits>
#include <optional>
#include <sstream>

namespace paged {
namespace {

struct TraceOptions {
  std::vector<std::string> cases;
  std::string seq = "0";
  std::string head = "0";
  std::optional<std::string> token;
};

struct TraceRequest {
  int seq = 0;
  int head = 0;
  std::optional<int> token;  ///< all pages without it
};

/// The value of an option that chooses one of `count` things.
int choice(const char* option, const std::string& text, int count, const std::string& things) {
  const int value = static_cast<int>(whole_number(option, text, std::numeric_limits<int>::max()));
  if (value >= count)
    throw InputError(std::string(option) + " is " + std::to_string(value) + "; the case has " +
                     std::to_string(count) + " " + things +
                     (count > 0 ? " (0 to " + std::to_string(count - 1) + ")" : ""));
  return value;
}

TraceRequest request_of(const TraceOptions& options, const CaseSpec& spec) {
  TraceRequest request;
  request.seq = choice("--seq", options.seq, static_cast<int>(spec.seq_lens.size()), "sequences");
  request.head = choice("--head", options.head, spec.num_heads, "query heads");
  if (options.token)
    request.token = choice("--token", *options.token, spec.seq_lens[request.seq],
                           "tokens in sequence " + std::to_string(request.seq));
  return request;
}

std::string decimal(double value) {
  char text[32];
  const bool short_enough = std::abs(value) < 1e15;
  std::snprintf(text, sizeof text, short_enough ? "%.4f" : "%.6g", value);
  return text;
}

/// Byte offset of an element of a contiguous cache.
std::int64_t bytes(const DecodeProblem& problem, std::int64_t element) {
  return element * static_cast<std::int64_t>(size_in_bytes(problem.cache()));
}

/// Lines that fit the terminal; in a file they stay as they are.
std::string on_terminal(const std::string& lines) {
  return isatty(STDOUT_FILENO) == 1 ? wrapped(lines, 0, text_columns(), 7) : lines;
}

void print_token(const DecodeProblem& problem, const HeadAttention& attention, int seq, int kv_head,
                 int token) {
  const int page = token / problem.block_size;
  const int offset = token % problem.block_size;
  const int block = problem.block_table(seq)[page];
  const int x = key_vector_width(static_cast<int>(size_in_bytes(problem.cache())));
  const std::int64_t key = key_index(problem, block, kv_head, offset, 0);
  const std::int64_t value = value_index(problem, block, kv_head, offset, 0);
  std::ostringstream lines;
  lines << "token " << token << " -> logical block " << page << " (" << token << " / "
        << problem.block_size << "), offset " << offset << " (" << token << " % "
        << problem.block_size << "), physical block " << block << " (block_table[" << page
        << "])\n";
  lines << "key,   dimension 0: element " << key << ", byte " << bytes(problem, key)
        << " of the key cache; " << x << " dimensions lie together, each further group "
        << bytes(problem, static_cast<std::int64_t>(x) * problem.block_size) << " bytes further\n";
  lines << "value, dimension 0: element " << value << ", byte " << bytes(problem, value)
        << " of the value cache; the next dimension lies " << bytes(problem, problem.block_size)
        << " bytes further\n";
  std::cout << on_terminal(lines.str());
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

DecodeProblem build(const CaseSpec& spec) {
  Progress progress("building");
  progress.show(spec.name);
  return build_case(spec).problem;
}

int run(const TraceOptions& options) {
  if (options.cases.size() != 1) throw InputError("trace takes one --case");
  const CaseSpec spec = find_case(options.cases.front());
  const TraceRequest request = request_of(options, spec);
  const DecodeProblem problem = build(spec);
  const int seq_len = problem.seq_lens[request.seq];
  const int kv_head = kv_head_of(request.head, problem.num_heads, problem.num_kv_heads);
  const HeadAttention attention =
      attend(problem, gather(problem, request.seq, kv_head), request.seq, request.head);

  std::cout << "seq " << request.seq << " head " << request.head << " kv_head " << kv_head
            << " seq_len " << seq_len << '\n';
  std::cout << "maximum " << decimal(attention.maximum) << ", sum " << decimal(attention.sum)
            << ", LSE " << decimal(attention.lse) << " (reference)\n";
  if (request.token)
    print_token(problem, attention, request.seq, kv_head, *request.token);
  else
    print_pages(problem, attention, request.seq, kv_head);
  return kAllHeld;
}

}  // namespace

void add_trace_command(CLI::App& program, int& status) {
  auto* command = program.add_subcommand(
      "trace", "Follow a token through the block table: block, offset, physical block, address");
  auto options = std::make_shared<TraceOptions>();
  add_case_option(*command, options->cases);
  const auto number = [&](const char* option, auto& value, const char* help) {
    command->add_option(option, value, help)->type_name("N")->capture_default_str();
  };
  number("--seq", options->seq, "which sequence");
  number("--head", options->head, "which query head");
  number("--token", options->token, "which token; without it, all pages");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace paged
