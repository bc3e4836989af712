// Reading a JSON object key by key, so that unknown keys and wrong types are errors that name them.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace paged {

/// Parses text. Throws InputError that begins with `origin` for text that is no JSON (with the
/// line), for numbers that no double holds, for keys that stand twice in one object, and for
/// nesting deeper than any of our files needs.
nlohmann::json parse_json(const std::string& text, const std::string& origin);

/// A view of one JSON object. Ask for every key that may stand there, then call finish(): whatever
/// was not asked for is an unknown key. All errors are InputError and name origin and key.
class JsonObject {
 public:
  /// `path` is where the object stands in its file, e.g. "values.query"; "" at the top.
  JsonObject(const nlohmann::json& object, std::string origin, std::string path);

  bool has(const std::string& key);
  const nlohmann::json& at(const std::string& key);  ///< a required key

  std::int64_t integer(const std::string& key, std::int64_t least, std::int64_t greatest);
  double number(const std::string& key);  ///< also "nan", "inf", "-inf" as text
  double finite_number(const std::string& key);
  /// A number that is neither too large nor too small for a 32-bit float.
  double float_number(const std::string& key);
  std::string text(const std::string& key);
  std::vector<std::int64_t> integers(const std::string& key, std::int64_t least,
                                     std::int64_t greatest);
  std::vector<double> float_numbers(const std::string& key);
  JsonObject object(const std::string& key);

  /// Throws if a key was never asked for, and lists the keys that were.
  void finish() const;

  [[noreturn]] void fail(const std::string& key, const std::string& why) const;

  static std::int64_t to_integer(const nlohmann::json& value, std::int64_t least,
                                 std::int64_t greatest,
                                 const std::function<void(const std::string&)>& refuse);

 private:
  std::string full_name(const std::string& key) const;
  double to_number(const nlohmann::json& value, const std::string& key) const;
  double to_float_number(const nlohmann::json& value, const std::string& key) const;

  const nlohmann::json& object_;
  std::string origin_;
  std::string path_;
  std::set<std::string> known_;
};

}  // namespace paged
