// What somebody may have meant who wrote a name that there isn't.
#pragma once
#include <string>
#include <vector>

namespace paged {

/// The names that are most like `wrong`, at most three, the likest first: few letters to change, or
/// one has the other in it. Empty if none is like it.
std::vector<std::string> nearest_names(const std::string& wrong,
                                       const std::vector<std::string>& names);

}  // namespace paged
