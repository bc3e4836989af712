// What a student has changed where nothing may be changed.
#pragma once
#include "walkthroughs/labs/hole.h"

#include <string>
#include <vector>

namespace paged::labs {

/// "" or the lines outside of the hole that differ from the source's, by their numbers in the
/// student's file: "lines 3, 40 to 42, and what stood behind line 60". Blanks at a line's end do
/// not count.
std::string changes_outside(const std::vector<std::string>& own, const Hole& own_hole,
                            const std::vector<std::string>& source, const Hole& hole);

}  // namespace paged::labs
