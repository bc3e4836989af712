#include "walkthroughs/labs/kit.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "tests/harness/json_object.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace paged::labs {
namespace {

const std::filesystem::path kBuild = PAGED_BUILD_DIRECTORY;

nlohmann::json read_json(const std::filesystem::path& file) {
  return parse_json(content_of_input(file), file.string());
}

/// A command line's words; quotes and backslashes as CMake writes them.
std::vector<std::string> shell_words(const std::string& command) {
  std::vector<std::string> words;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && c == ' ') {
      in_word = false;
      continue;
    }
    if (!in_word) words.emplace_back();
    in_word = true;
    if (c == '\\' && i + 1 < command.size())
      words.back() += command[++i];
    else if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else
      words.back() += c;
  }
  return words;
}

/// The command that compiles `source` in this build, from the compiler on (a cache may stand before
/// it), without input and output.
std::vector<std::string> compile_command(const std::string& source, const std::string& compiler) {
  const std::filesystem::path file = kBuild / "compile_commands.json";
  for (const nlohmann::json& entry : read_json(file)) {
    if (entry.at("file") != source) continue;
    const std::vector<std::string> words = shell_words(entry.at("command"));
    std::vector<std::string> command;
    for (auto word = std::find(words.begin(), words.end(), compiler); word != words.end(); ++word) {
      if (*word == "-o" || *word == "-c")
        ++word;  // and what follows
      else if (*word != source)
        command.push_back(*word);
    }
    if (!command.empty()) return command;
  }
  throw InputError(file.string() + " does not say how " + source + " is compiled");
}

std::vector<std::string> texts(const nlohmann::json& list) {
  std::vector<std::string> all;
  for (const nlohmann::json& text : list)
    if (!text.get<std::string>().empty()) all.push_back(text);
  return all;
}

}  // namespace

Kit read_kit() {
  const std::filesystem::path file = kBuild / "labs/kit.json";
  if (!std::filesystem::exists(file))
    throw InputError("the labs are not built; bash walkthroughs/lab.sh builds them");
  const nlohmann::json json = read_json(file);
  Kit kit;
  kit.root = json.at("root");
  kit.compile = compile_command(json.at("sample"), json.at("compiler"));
  kit.link = texts(json.at("link"));
  kit.v1 = json.at("v1");
  kit.cuda = texts(json.at("cuda"));
  kit.cuda_link = texts(json.at("cuda_link"));
  kit.cuda_v1 = json.at("cuda_v1");
  return kit;
}

}  // namespace paged::labs
