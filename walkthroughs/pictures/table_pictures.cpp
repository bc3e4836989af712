// Block tables over time: growth, a fork that shares, copy-on-write, and freeing.
#include "reference/cache_layout.h"
#include "reference/sequence_tables.h"
#include "walkthroughs/pictures/pictures.h"

#include <string>

namespace paged {
namespace {

constexpr int kBlockSize = 4;
constexpr int kNumBlocks = 6;
constexpr double kPanel = 330;
constexpr double kBlockWidth = 46;

/// A sequence by the name that the picture gives it.
struct Named {
  const char* name;
  SequenceTables::SequenceId id;
};

void draw_panel(Svg& svg, double x, double y, const std::string& title, const std::string& text,
                const SequenceTables& tables, const std::vector<Named>& sequences,
                const std::vector<BlockCopy>& copies) {
  svg.text(x, y, title, "h");
  svg.text(x, y + 18, text, "dim");
  const double cache = y + 150;
  for (int block = 0; block < kNumBlocks; ++block) {
    const int references = tables.device_blocks().ref_count(block);
    const double left = x + block * kBlockWidth;
    svg.rectangle(left, cache, kBlockWidth - 6, 34,
                  references == 0  ? "idle"
                  : references > 1 ? "b"
                                   : "a");
    svg.text(left + kBlockWidth / 2 - 3, cache + 15, std::to_string(block), "", Anchor::middle);
    svg.text(left + kBlockWidth / 2 - 3, cache + 28,
             references == 0 ? "free" : std::to_string(references) + " ref.", "small",
             Anchor::middle);
  }
  double column = x + 60;
  for (const Named& sequence : sequences) {
    const auto& blocks = tables.blocks(sequence.id);
    const int length = tables.length(sequence.id);
    svg.text(column - 8, y + 62, sequence.name, "h", Anchor::end);
    svg.text(column - 8, y + 76, std::to_string(length) + " tok.", "small dim", Anchor::end);
    for (std::size_t page = 0; page < blocks.size(); ++page) {
      const double left = column + static_cast<double>(page) * 34;
      svg.rectangle(left, y + 46, 30, 30, "idle");
      svg.text(left + 15, y + 66, std::to_string(blocks[page]), "", Anchor::middle);
      svg.connect(left + 15, y + 78, x + blocks[page] * kBlockWidth + kBlockWidth / 2 - 3,
                  cache - 3, "arrow");
    }
    column += 145;
  }
  for (const BlockCopy& copy : copies) {
    const double from = x + copy.from * kBlockWidth + kBlockWidth / 2 - 3;
    const double to = x + copy.to * kBlockWidth + kBlockWidth / 2 - 3;
    svg.line(from, cache + 36, from, cache + 48, "hl");
    svg.line(from, cache + 48, to, cache + 48, "hl");
    svg.line(to, cache + 48, to, cache + 38, "arrow2");
    svg.text((from + to) / 2, cache + 62,
             "copy " + std::to_string(copy.from) + " to " + std::to_string(copy.to), "small",
             Anchor::middle);
  }
}

}  // namespace

std::vector<Picture> table_pictures() {
  SequenceTables tables(kBlockSize, kNumBlocks);
  Svg svg(
      1020, 520, "Block tables that share blocks, and copy-on-write",
      "Six blocks of four tokens. A sequence grows to six tokens, is forked, both go on writing "
      "(the first writer copies the shared last block), and the first is freed.");
  svg.text(20, 26, "Block tables over 6 physical blocks of 4 tokens", "h");
  const auto x = [](int column) { return 20 + column * kPanel; };

  const auto a = tables.create();
  for (int i = 0; i < 6; ++i) tables.append(a);
  draw_panel(svg, x(0), 66, "1. A has 6 tokens", "a block at each boundary", tables, {{"A", a}},
             {});

  const auto b = tables.fork(a);
  draw_panel(svg, x(1), 66, "2. B is forked from A", "every block is shared, none is copied",
             tables, {{"A", a}, {"B", b}}, {});

  const AppendedToken of_b = tables.append(b);
  draw_panel(svg, x(2), 66, "3. B writes token 6", "its last block is shared: copied first", tables,
             {{"A", a}, {"B", b}}, of_b.copies);

  const AppendedToken of_a = tables.append(a);
  draw_panel(svg, x(0), 316, "4. A writes its own token 6",
             of_a.copies.empty() ? "nobody shares its last block now: no copy" : "copied", tables,
             {{"A", a}, {"B", b}}, of_a.copies);

  std::vector<BlockCopy> copies;
  for (int i = 0; i < 2; ++i)
    for (const BlockCopy& copy : tables.append(b).copies) copies.push_back(copy);
  draw_panel(svg, x(1), 316, "5. B goes on to token 8", "a block of its own at the boundary",
             tables, {{"A", a}, {"B", b}}, copies);

  tables.free(a);
  draw_panel(svg, x(2), 316, "6. A is freed", "its own block is free, the shared one is B's",
             tables, {{"B", b}}, {});
  return {{"block_tables.svg", svg.adaptive()}};
}

}  // namespace paged
