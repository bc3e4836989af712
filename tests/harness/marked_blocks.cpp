#include "tests/harness/marked_blocks.h"

#include "reference/input_error.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace paged {
namespace {

constexpr std::string_view kBegin = "<!-- ";
constexpr std::string_view kClose = " -->";
constexpr std::string_view kEnd = "<!-- end -->";

/// The block that a line begins, without content; none for any other line, other comments included.
std::optional<MarkedBlock> block_of(std::string_view line) {
  if (!line.starts_with(kBegin) || !line.ends_with(kClose)) return {};
  line.remove_prefix(kBegin.size());
  line.remove_suffix(kClose.size());
  std::size_t kind = 0;
  while (kind < line.size() && std::islower(static_cast<unsigned char>(line[kind])) != 0) ++kind;
  const std::size_t colon = line.find(": ");
  if (kind == 0 || colon == line.npos || colon < kind || (line[kind] != ' ' && kind != colon))
    return {};
  MarkedBlock block;
  block.kind = line.substr(0, kind);
  if (kind < colon) block.options = line.substr(kind + 1, colon - kind - 1);
  block.argument = line.substr(colon + 2);
  return block;
}

[[noreturn]] void fail(const std::string& file, int line, const std::string& why) {
  throw InputError(file + ":" + std::to_string(line) + ": " + why);
}

void check_kind(const std::string& file, const MarkedBlock& block) {
  const std::vector<std::string>& kinds = marked_block_kinds();
  if (std::find(kinds.begin(), kinds.end(), block.kind) != kinds.end()) return;
  std::string known;
  for (const std::string& kind : kinds) known += (known.empty() ? "" : ", ") + kind;
  fail(file, block.line, "there is no kind of block '" + block.kind + "'; there are " + known);
}

}  // namespace

void MarkedBlock::fill(const std::string& lines) { content = "\n" + lines + "\n"; }

std::string MarkedText::text() const {
  std::string all;
  for (std::size_t i = 0; i < blocks.size(); ++i) all += around[i] + blocks[i].content;
  return all + around.back();
}

const std::vector<std::string>& marked_block_kinds() {
  static const std::vector<std::string> kinds = {"code", "run", "measured", "stages", "mutants"};
  return kinds;
}

MarkedText read_marked_blocks(const std::string& file, const std::string& markdown) {
  MarkedText result;
  std::string around;
  std::optional<MarkedBlock> open;
  const auto without_end = [&] {
    fail(file, open->line,
         "the block '" + open->kind + ": " + open->argument + "' has no line '" +
             std::string(kEnd) + "'");
  };
  int number = 0;
  for (std::size_t begin = 0; begin < markdown.size();) {
    const std::size_t end = std::min(markdown.find('\n', begin), markdown.size() - 1) + 1;
    const std::string line = markdown.substr(begin, end - begin);
    const std::string_view bare(line.data(), line.size() - (line.back() == '\n' ? 1 : 0));
    begin = end;
    ++number;
    std::optional<MarkedBlock> next = block_of(bare);
    if (next) {
      if (open) without_end();
      next->line = number;
      check_kind(file, *next);
      result.around.push_back(around + line);
      around.clear();
      open = std::move(next);
    } else if (bare == kEnd) {
      if (!open) fail(file, number, "'" + std::string(kEnd) + "' ends no block");
      result.blocks.push_back(std::move(*open));
      open.reset();
      around = line;
    } else {
      (open ? open->content : around) += line;
    }
  }
  if (open) without_end();
  result.around.push_back(around);
  return result;
}

}  // namespace paged
