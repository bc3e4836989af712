#include "walkthroughs/labs/call_rules.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <regex>

namespace paged::labs {
namespace {

constexpr std::uintmax_t kMostOfList = std::uintmax_t{64} << 20;  // a solution has 1 MB
constexpr std::size_t kLongestOperand = 2000;  // a pattern is matched by a recursion a character

// How GCC writes operands with -raw-uid: values have a version (token_12, _7(D)), variables and
// functions a number of their own (queryD.143533, D.1508), so that two of one name differ.
// Patterns that have no memory, and variables with the parts of them that have one place.
const char* const kNoMemory =
    R"([^\s,<>\[\]*&"()-]*_[0-9]+(\(D\))?|NULL|[-+]?[0-9][-+.0-9a-zA-Z]*| ?[-+]?(Inf|Q?S?Nan.*))";
const char* const kVariable =
    R"(([^\s,<>\[\]*&"().-]*D\.[0-9]+)(\.[^\s,<>\[\]*&"().-]*D\.[0-9]+|\[[0-9]+\])*)";

bool has_no_memory(const std::string& operand) {
  static const std::regex pattern(kNoMemory);
  return operand.size() <= kLongestOperand && std::regex_match(operand, pattern);
}

/// Cuts at the commas that stand in no brackets and no string.
std::vector<std::string> operands_of(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool arrow = c == '>' && i > 0 && text[i - 1] == '-';
    if (in_string && c == '\\') {
      ++i;
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (!in_string && std::string("([{<").find(c) != std::string::npos) ++depth;
    if (!in_string && !arrow && std::string(")]}>").find(c) != std::string::npos) --depth;
    if (depth < 0) break;
    if (c == ',' && depth == 0 && !in_string) {
      parts.emplace_back();
      ++i;  // and the blank behind it
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// A call: what is called, where its result goes, what it is given.
struct Call {
  std::string function;  ///< in which it stands
  std::string callee;
  std::string result;
  std::vector<std::string> arguments;
};

/// An operator's name may have any sign.
Call call_of(const std::string& function, std::string text) {
  Call call{function, "", "", {}};
  std::smatch name;
  static const std::regex of_operator("^operator.*?D\\.[0-9]+, ");
  if (text.starts_with("operator") && text.size() <= kLongestOperand &&
      std::regex_search(text, name, of_operator)) {
    call.callee = "operator";
    text = name.suffix();
  }
  std::vector<std::string> parts = operands_of(text);
  if (call.callee.empty()) {
    call.callee = parts.front();
    parts.erase(parts.begin());
  }
  if (parts.empty()) return call;
  call.result = parts.front();
  call.arguments.assign(parts.begin() + 1, parts.end());
  return call;
}

/// The name that a source has of what is called: "copy" of copy.3_12, "printf" of printfD.1009.
std::string name_in_source(const std::string& callee) {
  std::size_t end = 0;
  while (end < callee.size() &&
         (std::isalnum(static_cast<unsigned char>(callee[end])) != 0 || callee[end] == '_'))
    ++end;
  std::string name = callee.substr(0, end);
  if (end < callee.size() && callee[end] == '.' && name.ends_with('D')) name.pop_back();
  return name.empty() || name.front() == '_' ? "" : name;
}

/// The whole list: its calls, local variables and parameters, and functions.
struct CallList {
  std::vector<Call> calls;
  std::set<std::string> locals;
  std::set<std::string> functions;  ///< numbers, "D.1234"
};

/// Declarations end with a semicolon, statements of the raw kind do not.
void take_locals(const std::string& line, std::set<std::string>& locals) {
  for (const char* elsewhere : {"  static ", "  extern ", "  register "})
    if (line.starts_with(elsewhere)) return;
  std::size_t end = line.size() - 1;
  while (line[end - 1] == ']') {
    end = line.rfind('[', end - 1);
    if (end == std::string::npos || end == 0) return;
  }
  const std::size_t begin = line.find_last_of(" *&", end - 1);
  if (begin != std::string::npos) locals.insert(line.substr(begin + 1, end - begin - 1));
}

void take_parameters(const std::string& line, std::set<std::string>& locals) {
  for (std::size_t end = line.find_first_of(",)"); end != std::string::npos;
       end = line.find_first_of(",)", end + 1)) {
    const std::size_t begin = line.find_last_of(" *&(", end - 1);
    if (begin != std::string::npos) locals.insert(line.substr(begin + 1, end - begin - 1));
  }
}

CallList read_list(const std::filesystem::path& file) {
  CallList list;
  std::ifstream lines(file);
  std::string function;
  bool at_header = false;
  for (std::string line; std::getline(lines, line);) {
    const std::string call = "gimple_call <";
    const std::size_t text = line.find_first_not_of(' ');
    if (line.starts_with(";; Function ")) {
      const std::size_t numbers = line.find(", funcdef_no=");
      const std::size_t open = line.rfind(" (", numbers);
      function = line.substr(open + 2, numbers - open - 2);
      const std::size_t number = line.find("decl_uid=", numbers);
      list.functions.insert("D." +
                            line.substr(number + 9, line.find_first_of(",)", number) - number - 9));
      at_header = true;
    } else if (line == "{") {
      at_header = false;
    } else if (at_header) {
      take_parameters(line, list.locals);
    } else if (text != std::string::npos && line.compare(text, call.size(), call) == 0) {
      list.calls.push_back(call_of(function, line.substr(text + call.size())));
    } else if (line.starts_with("  ") && line.ends_with(';')) {
      take_locals(line, list.locals);
    }
  }
  return list;
}

bool is_local(const std::string& operand, const CallList& list) {
  std::smatch parts;
  static const std::regex pattern(kVariable);
  return operand.size() <= kLongestOperand && std::regex_match(operand, parts, pattern) &&
         list.locals.contains(parts[1]);
}

bool is_function(const std::string& operand, const CallList& list) {
  const std::size_t number = operand.rfind("D.");
  return number != std::string::npos && operand.find_first_of("*&[]()<>. ") == number + 1 &&
         list.functions.contains(operand.substr(number));
}

bool is_seen_argument(const std::string& operand, const CallList& list) {
  for (const char* of_no_memory : {"&", "\"", "{"})
    if (operand.starts_with(of_no_memory)) return true;
  return has_no_memory(operand) || is_local(operand, list) || is_function(operand, list);
}

// Into <retval> goes what whoever is returned to stores, or has in a local variable.
bool is_seen_result(const std::string& operand, const CallList& list) {
  return operand.starts_with("<retval>") || operand.starts_with("*<retval>_") ||
         has_no_memory(operand) || is_local(operand, list);
}

/// Copies of a known size become instructions; others are calls of what is watched.
bool is_unseen_copy(const Call& call) {
  static const std::regex of_memory("(__builtin_)?(mem[a-z]+|bcopy|bzero)D[.].*");
  static const std::regex of_strings("(__builtin_)?(str|stp)[a-z]+D[.].*");
  static const std::regex known_size("[0-9]+");
  if (call.callee.size() > kLongestOperand) return true;
  if (std::regex_match(call.callee, of_strings))
    return call.callee.find("strlen") == std::string::npos;
  if (call.arguments.empty() || !std::regex_match(call.callee, of_memory)) return false;
  // A stage's own words, in the function that says what it promises.
  static const std::regex statement("_ZN5paged3lab[0-9]+stage_0[0-9][a-z_0-9]*Ev");
  const bool of_stage = call.arguments.size() == 3 && call.arguments[1].starts_with('"') &&
                        std::regex_match(call.function, statement);
  return std::regex_match(call.arguments.back(), known_size) && !of_stage;
}

/// How every launch calls its kernel with the parameters that it keeps for all threads
/// (kernels/simt/launch.h); the rules on text refuse the word to others.
bool is_of_launch(const Call& call) {
  static const std::regex kernel("_[0-9]+");
  static const std::regex parameter("\\*?_[0-9]+");
  return call.function.starts_with("_ZSt5applyIRKPFvN5paged") &&
         std::regex_match(call.callee, kernel) &&
         std::all_of(call.arguments.begin(), call.arguments.end(),
                     [](const std::string& a) { return std::regex_match(a, parameter); });
}

/// A call whose accesses the checker does not see, and the function that has it.
struct UnseenCall {
  std::string function;  ///< as the linker has it
  Objection objection;
};

/// "" or what a call does unseen.
std::string unseen_in(const Call& call, const CallList& list) {
  const std::string name = name_in_source(call.callee);
  const std::string whom = name.empty() ? "a function" : "'" + name + "'";
  if (call.callee.starts_with("__cxa_throwD.") || is_of_launch(call)) return "";
  if (is_unseen_copy(call))
    return "it copies memory where nothing sees it: use a loop, an assignment or memcpy()";
  for (const std::string& argument : call.arguments)
    if (!is_seen_argument(argument, list))
      return "it calls " + whom +
             " with an object by value that is no local variable: it would be read unseen; pass it "
             "by reference";
  return is_seen_result(call.result, list)
             ? ""
             : "it stores an object that " + whom +
                   " returns in what is no local variable: it would be written unseen; store it in "
                   "a local variable first";
}

std::vector<UnseenCall> unseen_calls(const std::filesystem::path& file) {
  const CallList list = read_list(file);
  std::vector<UnseenCall> unseen;
  for (const Call& call : list.calls)
    if (const std::string what = unseen_in(call, list); !what.empty())
      unseen.push_back({call.function, {what, {name_in_source(call.callee)}}});
  return unseen;
}

}  // namespace

std::string option_that_lists_calls(const std::filesystem::path& file) {
  return "-fdump-tree-optimized-raw-uid=" + file.string();
}

std::vector<Objection> objections_to_calls(const std::filesystem::path& file,
                                           const std::filesystem::path& solved) {
  if (std::filesystem::file_size(file) > kMostOfList)
    return {{"it has more code than can be looked at", {}}};
  std::set<std::string> known;
  if (!solved.empty())
    for (const UnseenCall& call : unseen_calls(solved)) known.insert(call.function);
  std::vector<Objection> objections;
  for (const UnseenCall& call : unseen_calls(file))
    if (!known.contains(call.function)) objections.push_back(call.objection);
  return objections;
}

}  // namespace paged::labs
