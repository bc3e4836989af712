// What a student is told of a text that is allowed, and yet not what was meant.
#pragma once
#include <string>

namespace paged::labs {

/// "" or that braces do not match in code: "has 3 '{' and 2 '}'". Whoever leaves one out is told by
/// the compiler of a place far behind it.
std::string unmatched_braces(const std::string& text);

/// Whether code does nothing but print: it calls printf, puts or putchar, and neither assigns,
/// declares nor calls anything else outside of the heads of its loops.
bool only_prints(const std::string& text);

}  // namespace paged::labs
