// Messages that say one thing after the other.
#pragma once
#include <cstddef>
#include <string>

namespace paged {

/// Adds a part to a message: behind "; ", or behind a blank where the part before is a sentence
/// with its stop. A part that says nothing adds nothing.
inline void add_part(std::string& message, const std::string& part) {
  if (part.empty()) return;
  if (!message.empty()) message += message.ends_with('.') ? " " : "; ";
  message += part;
}

/// A message by what its parts are for, each as it came.
struct MessageParts {
  std::string found;   ///< what was found and where
  std::string cause;   ///< behind "likely cause: ", or ""
  std::string advice;  ///< behind "what to do: ", or ""
};

/// Cause and advice stand last, in this order: each goes on to the next or to the end, whatever is
/// in it.
inline MessageParts parts_of(const std::string& message) {
  MessageParts parts{message, "", ""};
  const auto cut_behind = [&](const std::string& opening) {
    const std::size_t begin = parts.found.rfind("; " + opening);
    if (begin == std::string::npos) return std::string();
    const std::string part = parts.found.substr(begin + 2 + opening.size());
    parts.found.resize(begin);
    return part;
  };
  parts.advice = cut_behind("what to do: ");
  parts.cause = cut_behind("likely cause: ");
  return parts;
}

}  // namespace paged
