// The tour's page: one self-contained HTML document with pictures drawn from the run's own data.
#include "reference/cache_layout.h"
#include "reference/decode_attention.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/tour_results.h"

#include <algorithm>
#include <cstdio>

namespace paged {
namespace {

/// Colours come from the reader's light or dark setting; on paper it is always light.
constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #1c2733; --paper: #fff; --line: #c9d2dc; --soft: #eef2f6;
        --good: #1a7f37; --bad: #b42318; --mark: #2f6fde; }
@media (prefers-color-scheme: dark) { :root { --ink: #dde5ee; --paper: #11171e; --line: #3a4754;
        --soft: #1b242e; --good: #4cc26b; --bad: #ff8077; --mark: #7aa7ff; } }
@media print { :root { --ink: #000; --paper: #fff; --line: #999; --soft: #eee; --mark: #2f6fde; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 62rem; margin: 2rem auto; padding: 0 1.2rem; }
h1 { line-height: 1.2; } h2 { margin-top: 2.2rem; }
table { border-collapse: collapse; width: 100%; } .wide { overflow-x: auto; }
th, td { text-align: left; padding: .45rem .7rem; border-bottom: 1px solid var(--line);
         vertical-align: top; }
td.name, td code { white-space: nowrap; }
th { background: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); }
code { background: var(--soft); padding: .1em .3em; border-radius: 4px; }
figure { overflow-x: auto; }
svg { width: 100%; min-width: 34rem; height: auto; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
figure { margin: 1rem 0; } figcaption { font-size: .92rem; opacity: .85; }
)";

std::string escaped(const std::string& text) {
  std::string safe;
  for (char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '>')
      safe += "&gt;";
    else if (c == '&')
      safe += "&amp;";
    else
      safe += c;
  }
  return safe;
}

std::string rectangle(double x, double y, double width, double height, const std::string& style) {
  char text[200];
  std::snprintf(text, sizeof text,
                "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' rx='3' style='%s'/>", x, y,
                width, height, style.c_str());
  return text;
}

std::string label(double x, double y, const std::string& text, const char* anchor = "middle") {
  char place[100];
  std::snprintf(place, sizeof place, "<text x='%.1f' y='%.1f' text-anchor='%s'>", x, y, anchor);
  return place + escaped(text) + "</text>";
}

/// Worked example 1: logical blocks above, the cache below, an arrow for each table entry.
std::string block_table_figure() {
  const DecodeProblem problem = build_case(find_case("worked-example-1-gqa")).problem;
  constexpr double kCell = 70;
  constexpr double kHeight = 46;
  const auto num_blocks = static_cast<int>(problem.num_blocks());
  const int pages = num_pages(problem.seq_lens[0], problem.block_size);
  const double width = kCell * num_blocks + 20;
  std::string svg = "<svg viewBox='0 0 " + std::to_string(static_cast<int>(width)) +
                    " 250' role='img' aria-label='block table'>";
  svg += label(10, 18, "logical blocks of the sequence (35 tokens, 16 a page)", "start");
  svg += label(10, 232, "physical blocks of the cache", "start");
  const std::string owned = "fill:var(--soft);stroke:var(--mark);stroke-width:1.6";
  const std::string free = "fill:none;stroke:var(--line)";
  for (int block = 0; block < num_blocks; ++block)
    svg += rectangle(10 + block * kCell, 165, kCell - 6, kHeight, free);
  for (int page = 0; page < pages; ++page) {
    const int block = problem.block_table(0)[page];
    const double from = 10 + (page + 2) * kCell;
    const double to = 10 + block * kCell;
    const int tokens =
        std::min(problem.block_size, problem.seq_lens[0] - page * problem.block_size);
    svg += rectangle(from, 30, kCell - 6, kHeight, owned) +
           rectangle(from, 30, (kCell - 6) * tokens / problem.block_size, kHeight,
                     "fill:var(--mark);opacity:.25") +
           label(from + kCell / 2 - 3, 50, std::to_string(page)) +
           label(from + kCell / 2 - 3, 67, std::to_string(tokens) + " tok.");
    svg += rectangle(to, 165, kCell - 6, kHeight, owned) +
           rectangle(to, 165, (kCell - 6) * tokens / problem.block_size, kHeight,
                     "fill:var(--mark);opacity:.25");
    char line[160];
    std::snprintf(line, sizeof line,
                  "<path d='M%.1f 78 C %.1f 120 %.1f 120 %.1f 163' fill='none' "
                  "stroke='var(--mark)' stroke-width='1.6'/>",
                  from + kCell / 2 - 3, from + kCell / 2 - 3, to + kCell / 2 - 3,
                  to + kCell / 2 - 3);
    svg += line;
  }
  for (int block = 0; block < num_blocks; ++block)
    svg += label(10 + block * kCell + kCell / 2 - 3, 193, std::to_string(block));
  return svg + "</svg>";
}

/// How much weight each page of the real text gets from each query head, as a heat map.
std::string weights_figure(const std::string& case_name) {
  const DecodeProblem problem = build_case(find_case(case_name)).problem;
  const int seq_len = problem.seq_lens[0];
  const int pages = num_pages(seq_len, problem.block_size);
  constexpr double kCell = 17;
  std::string svg = "<svg viewBox='0 0 " + std::to_string(static_cast<int>(70 + pages * kCell)) +
                    " " + std::to_string(static_cast<int>(20 + (problem.num_heads + 1) * kCell)) +
                    "' role='img' aria-label='attention weight by page'>";
  for (int head = 0; head < problem.num_heads; ++head) {
    const int kv_head = kv_head_of(head, problem.num_heads, problem.num_kv_heads);
    const HeadAttention attention = attend(problem, gather(problem, 0, kv_head), 0, head);
    svg += label(60, 14 + head * kCell, "head " + std::to_string(head), "end");
    for (int page = 0; page < pages; ++page) {
      const int first = page * problem.block_size;
      const int count = std::min(problem.block_size, seq_len - first);
      const double weight = attention.weights.segment(first, count).sum();
      char style[100];
      std::snprintf(style, sizeof style, "fill:var(--mark);opacity:%.3f", 0.04 + 0.96 * weight);
      svg += rectangle(66 + page * kCell, 2 + head * kCell, kCell - 2, kCell - 2, style);
    }
  }
  svg += label(66, 18 + problem.num_heads * kCell, "page 0", "start") +
         label(66 + pages * kCell, 18 + problem.num_heads * kCell,
               "page " + std::to_string(pages - 1), "end");
  return svg + "</svg>";
}

std::string results_table(const TourResults& tour) {
  std::string html =
      "<div class='wide'><table><tr><th>stage</th><th>runs on</th><th>case</th>"
      "<th>largest error</th><th>share of its bound</th><th>result</th></tr>";
  for (const TourStep& step : tour.steps)
    for (const auto& stop : step.runs)
      for (const StageRun& run : stop) {
        const Comparison& c = run.comparison;
        html +=
            "<tr><td class='name'>" + std::to_string(step.stage_number) + " " +
            escaped(step.stage) + "</td><td>" + step.backend + "</td><td><code>" +
            escaped(run.case_name) + "</code></td><td>" + short_number(c.max_abs_error) +
            "</td><td>" + percentage(c.bound_used) + "</td><td class='" +
            (c.passed ? "good" : "bad") + "'>" +
            (c.passed ? "right"
                      : "wrong: " + escaped(run.faults.empty() ? c.message : run.faults.front())) +
            "</td></tr>";
      }
  return html + "</table></div>";
}

}  // namespace

std::string tour_page(const TourResults& tour) {
  std::string html =
      "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
      "<meta name='viewport' content='width=device-width, initial-scale=1'>"
      "<title>PagedAttention lab: the tour</title><style>";
  html += kStyle;
  html +=
      "</style></head><body><h1>PagedAttention lab: the tour</h1>"
      "<p>Every stage computed decode attention over a paged cache. Each output element was "
      "compared with a double-precision reference, against a bound derived from the data and "
      "from the arithmetic that the stage declares. ";
  html += tour.no_cuda.empty()
              ? "Kernels ran on the CPU machine and on a GPU."
              : "Kernels ran on the CPU machine, every memory access watched; not on a GPU: " +
                    escaped(tour.no_cuda) + ".";
  html += "</p><h2>Stages</h2><ul>";
  for (const TourStep& step : tour.steps)
    html += "<li><b>" + std::to_string(step.stage_number) + " " + escaped(step.stage) + "</b> (" +
            step.backend + "): " + escaped(step.idea) + "</li>";
  html += "</ul>";
  html += "<h2>The stops</h2><dl>";
  for (const TourStop& stop : tour.stops)
    html += "<dt><b>" + escaped(stop.title) + "</b></dt><dd>" + escaped(stop.explanation) + "</dd>";
  html += "</dl><h2>Results</h2>" + results_table(tour);
  html += "<h2>From a logical block to a physical one</h2><figure>" + block_table_figure() +
          "<figcaption>Worked example 1. The block table [7, 2, 9] says where each page of the "
          "sequence lies; the last page holds 3 tokens, and the 13 slots behind them must not "
          "matter.</figcaption></figure>";
  html += "<h2>Where a real model looks</h2><figure>" + weights_figure("smollm2-layer-14") +
          "<figcaption>SmolLM2-135M, layer 14, the last of 745 tokens: the share of attention "
          "that each page of 16 tokens gets, by query head. Heads that put nearly everything on "
          "one page make a wrong page visible at once.</figcaption></figure>";
  html +=
      "<h2>Next</h2><p><a href='explorer.html'>Step through the kernels</a>: every request for "
      "memory "
      "that their warps made in recorded runs, lane by lane (beside this page, if "
      "<code>walkthroughs/tour.sh</code> wrote it). <code>build/bin/paged list</code> shows the "
      "stages and what they "
      "promise, <code>build/bin/paged check</code> tries it, and "
      "<code>build/bin/paged trace --case worked-example-3-address-walk --token 16</code> "
      "follows one token to its address.</p></body></html>\n";
  return html;
}

}  // namespace paged
