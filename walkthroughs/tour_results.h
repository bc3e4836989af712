// What the tour found out: the data that its table and its page show.
#pragma once
#include "tests/harness/stage_run.h"

#include <string>
#include <vector>

namespace paged {

/// One stop of the tour: cases that belong together.
struct TourStop {
  std::string title;        ///< as a column's heading
  std::string explanation;  ///< one sentence
  std::vector<std::string> cases;
};

/// A stage on a backend over all stops.
struct TourStep {
  int stage_number = 0;
  std::string stage;
  std::string idea;
  std::string backend;
  std::vector<std::vector<StageRun>> runs;  ///< [stop][case]
};

/// The whole tour.
struct TourResults {
  std::vector<TourStop> stops;
  std::vector<TourStep> steps;
  std::string no_cuda;  ///< why CUDA was not run; "" if it was
  bool all_passed() const;
};

/// The page of the tour as one self-contained HTML document.
std::string tour_page(const TourResults& results);

}  // namespace paged
