// What an InputError said, and whether it says enough.
#pragma once
#include "reference/input_error.h"

#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paged::testing {

/// The message of the InputError that an action throws; nothing if it throws none.
template <typename Action>
std::optional<std::string> input_error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const InputError& error) {
    return error.what();
  }
  return std::nullopt;
}

/// Whether a message contains a number or name as a whole: "12" is not in "128", "-12" or "0.12".
inline bool mentions(std::string_view message, std::string_view word) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto at = [&](std::size_t i) { return i < message.size() ? message[i] : ' '; };
  for (std::size_t i = message.find(word); i != message.npos; i = message.find(word, i + 1)) {
    const char before = i > 0 ? message[i - 1] : ' ';
    const std::size_t end = i + word.size();
    const bool starts = !is_word(before) && before != '-' &&
                        !(before == '.' && i > 1 && std::isdigit(message[i - 2]) != 0);
    const bool ends = !is_word(at(end)) && !(at(end) == '.' && std::isdigit(at(end + 1)) != 0);
    if (starts && ends) return true;
  }
  return false;
}

/// Whether a message contains at least one of several spellings.
inline bool mentions_any(std::string_view message, const std::vector<std::string>& words) {
  for (const std::string& word : words)
    if (mentions(message, word)) return true;
  return false;
}

}  // namespace paged::testing
