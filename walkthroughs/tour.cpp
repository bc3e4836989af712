// The tour: every stage on every backend of this machine, on a real decode step, on the worked
// examples and on a batch of real request lengths, compared with the reference.
#include "reference/input_error.h"
#include "tests/harness/named_cases.h"
#include "tests/harness/one_line.h"
#include "tests/harness/output_file.h"
#include "tests/harness/text_table.h"
#include "walkthroughs/tour_results.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

namespace paged {

bool TourResults::all_passed() const {
  for (const TourStep& step : steps)
    for (const auto& stop : step.runs)
      for (const StageRun& run : stop)
        if (!run.comparison.passed) return false;
  return true;
}

namespace {

std::vector<TourStop> tour_stops() {
  return {{"real model step",
           "One decode step of SmolLM2-135M at three of its 30 layers: a text of 745 tokens and "
           "two of its prefixes, on shared pages, with NaN in every slot that nobody owns.",
           {"smollm2-layer-00", "smollm2-layer-14", "smollm2-layer-29"}},
          {"worked examples",
           "Small cases that can be computed by hand: grouped heads, partitions, an address walk.",
           {"worked-example-1-gqa", "worked-example-2-partitions", "worked-example-3-address-walk",
            "worked-example-4-warps"}},
          {"request mix",
           "Batches of eight requests whose lengths stand for eight equal shares of the requests "
           "to two real services.",
           {"request-mix-conversation", "request-mix-code"}}};
}

TourStep take_step(const Stage& stage, Device& device, const TourResults& tour,
                   Progress& progress) {
  TourStep step{stage.number, stage.name, stage.idea, name_of(device.backend()), {}};
  KernelUnderTest kernel(stage, device);
  for (const TourStop& stop : tour.stops) {
    step.runs.emplace_back();
    for (const std::string& name : stop.cases) {
      progress.show("stage " + std::to_string(stage.number) + " on " + step.backend + ", " + name);
      step.runs.back().push_back(run_on_case(kernel, build_case(find_case(name))));
    }
  }
  return step;
}

TourResults take_tour() {
  TourResults tour;
  tour.stops = tour_stops();
  tour.no_cuda = why_no_cuda_device();
  std::vector<Backend> backends = {Backend::cpu};
  if (tour.no_cuda.empty()) backends.push_back(Backend::cuda);
  Progress progress("tour");
  for (Backend backend : backends) {
    const std::unique_ptr<Device> device = make_device(backend);
    for (const Stage& stage : stages(backend))
      tour.steps.push_back(take_step(stage, *device, tour, progress));
  }
  return tour;
}

/// "3/3, 84 % of bound"
std::string outcome(const std::vector<StageRun>& runs) {
  const auto passed = std::count_if(runs.begin(), runs.end(),
                                    [](const StageRun& run) { return run.comparison.passed; });
  double used = 0;
  for (const StageRun& run : runs) used = std::max(used, run.comparison.bound_used);
  return std::to_string(passed) + "/" + std::to_string(runs.size()) + " right, " +
         percentage(used) + " of bound";
}

void print(const TourResults& tour) {
  std::vector<std::string> heading = {"stage", "runs on"};
  for (const TourStop& stop : tour.stops) heading.push_back(stop.title);
  TextTable table(heading);
  for (const TourStep& step : tour.steps) {
    std::vector<std::string> row = {std::to_string(step.stage_number) + " " + step.stage,
                                    step.backend};
    for (const auto& runs : step.runs) row.push_back(outcome(runs));
    table.add_row(row);
  }
  table.print(std::cout);
  std::cout
      << "\n\"Right\" means: every output element within the bound that the stage's arithmetic "
         "and the data\nallow, no bad access. \"95 % of bound\" is right, too: the element that "
         "came nearest to its bound\nused so much of it (docs/error_bounds.md).\n";
  for (const TourStep& step : tour.steps)
    for (const auto& stop : step.runs)
      for (const StageRun& run : stop)
        if (!run.comparison.passed)
          std::cout << "stage " << step.stage_number << " on " << run.case_name << ": "
                    << (run.faults.empty() ? run.comparison.message : run.faults.front()) << '\n';
  std::cout << (tour.no_cuda.empty()
                    ? "Kernels ran on the CPU machine and on the GPU.\n"
                    : "Kernels ran on the CPU machine; not on a GPU: " + tour.no_cuda + ".\n");
}

int run(const std::optional<std::string>& html) {
  std::optional<OutputFile> page;
  if (html) page.emplace(*html);
  const TourResults tour = take_tour();
  print(tour);
  if (page) {
    page->commit(tour_page(tour));
    std::cout << "The page with pictures: " << *html
              << "\nNext: walkthroughs/README.md, page by page; bash walkthroughs/lab.sh list; "
                 "build/bin/paged list.\n";
  }
  std::cout.flush();
  if (!std::cout) throw std::runtime_error("cannot write to standard output");
  return tour.all_passed() ? 0 : 1;
}

int complain(const std::string& message, int status) {
  std::cerr << "tour: " << one_line(message) << '\n';
  return status;
}

}  // namespace
}  // namespace paged

int main(int argc, char** argv) {
  CLI::App program("Runs every stage on a real decode step and compares it with the reference.");
  std::optional<std::string> html;
  program.add_option("--html", html, "write the tour's page")->type_name("FILE");
  try {
    program.parse(argc, argv);
    return paged::run(html);
  } catch (const CLI::CallForHelp&) {
    std::cout << program.help() << std::flush;
    return std::cout ? 0 : 1;
  } catch (const CLI::ParseError& error) {
    return paged::complain(error.what(), 2);
  } catch (const paged::InputError& error) {
    return paged::complain(error.what(), 2);
  } catch (const std::exception& error) {
    return paged::complain(error.what(), 1);
  }
}
