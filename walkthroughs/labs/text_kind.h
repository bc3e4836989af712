// What a file is that was handed in for a source.
#pragma once
#include <string>

namespace paged::labs {

/// "" of a text as sources are, else why it is none, to stand behind the file's name: "is empty",
/// "is UTF-16; ...". UTF-8 and any other code in which line ends are a byte are texts.
std::string objection_to_text(const std::string& content);

}  // namespace paged::labs
