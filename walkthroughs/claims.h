// What a page claims, held against what its program computes.
#pragma once
#include "tests/harness/one_line.h"

#include <cmath>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace paged {

/// The claims of one page.
class Claims {
 public:
  void require(bool holds, const std::string& claim) {
    std::cout << (holds ? "holds: " : "DOES NOT HOLD: ") << claim << '\n';
    all_hold_ = all_hold_ && holds;
  }
  bool all_hold() const { return all_hold_; }

 private:
  bool all_hold_ = true;
};

/// Runs the program of a page: tell(claims) prints and requires. The exit status: 0 if all claims
/// hold, else 1.
template <typename Tell>
int run_page(const char* program, Tell tell) {
  try {
    Claims claims;
    tell(claims);
    std::cout.flush();
    return claims.all_hold() && std::cout ? 0 : 1;
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << program << ": " << one_line(error.what()) << '\n';
    return 1;
  }
}

/// A number with so many digits behind the point.
inline std::string fixed(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

/// A number in as few digits as tell it, at most `digits`.
inline std::string general(double value, int digits) {
  if (std::isnan(value)) return "NaN";  // whose sign means nothing
  char text[64];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return text;
}

}  // namespace paged
