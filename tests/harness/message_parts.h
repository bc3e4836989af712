// Messages that say one thing after the other.
#pragma once
#include <string>

namespace paged {

/// Adds a part to a message: behind "; ", or behind a blank where the part before is a sentence
/// with its stop. A part that says nothing adds nothing.
inline void add_part(std::string& message, const std::string& part) {
  if (part.empty()) return;
  if (!message.empty()) message += message.ends_with('.') ? " " : "; ";
  message += part;
}

}  // namespace paged
