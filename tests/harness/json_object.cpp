#include "tests/harness/json_object.h"

#include "reference/input_error.h"
#include "tests/harness/wrapped_text.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace paged {
namespace {

/// More than any file of ours needs, and few enough for recursion.
constexpr int kMostLevels = 64;

/// A value as messages show it.
std::string shown(const nlohmann::json& value) {
  if (value.is_array()) return "an array";
  if (value.is_object()) return "an object";
  return shortened(value.dump());
}

/// "values.query.std"
std::string joined(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& key : path) text += (text.empty() ? "" : ".") + key;
  return text;
}

}  // namespace

nlohmann::json parse_json(const std::string& text, const std::string& origin) {
  const std::size_t zero = text.find('\0');  // where the parser would stop in silence
  if (zero != std::string::npos)
    throw InputError(origin + ": byte " + std::to_string(zero) + " is 0, which no JSON text has");
  // The keys met so far in each object that is open; a later one of the same name would win in
  // silence.
  std::vector<std::set<std::string>> keys;
  std::vector<std::string> path;  // the latest of them
  const auto see = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    if (depth > kMostLevels)
      throw InputError(origin + ": nested deeper than " + std::to_string(kMostLevels) + " levels");
    if (event == nlohmann::json::parse_event_t::object_start) {
      keys.emplace_back();
      path.emplace_back();
    }
    if (event == nlohmann::json::parse_event_t::object_end) {
      keys.pop_back();
      path.pop_back();
    }
    if (event == nlohmann::json::parse_event_t::key) {
      path.back() = parsed.get<std::string>();
      if (!keys.back().insert(path.back()).second)
        throw InputError(origin + ": the key '" + shortened(path.back()) + "' stands twice");
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, see);
  } catch (const nlohmann::json::out_of_range& error) {
    const std::string what = error.what();  // "[...] number overflow parsing '1e999'"
    const std::size_t number = what.find('\'');
    throw InputError(origin + ": '" + shortened(joined(path), 80) + "' has the number " +
                     shortened(what.substr(std::min(number, what.size()))) +
                     ", which is too large for any number here");
  } catch (const nlohmann::json::exception& error) {
    // Messages read "[json.exception.parse_error.101] parse error at line 3, column 7: ..." and may
    // quote what was read last.
    const std::string what = error.what();
    const std::size_t end_of_id = what.find("] ");
    throw InputError(origin + ": " +
                     shortened(end_of_id == what.npos ? what : what.substr(end_of_id + 2), 200));
  }
}

JsonObject::JsonObject(const nlohmann::json& object, std::string origin, std::string path)
    : object_(object), origin_(std::move(origin)), path_(std::move(path)) {
  if (!object_.is_object())
    throw InputError(origin_ + ": " + (path_.empty() ? "the file" : "'" + path_ + "'") +
                     " must be a JSON object");
}

std::string JsonObject::full_name(const std::string& key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void JsonObject::fail(const std::string& key, const std::string& why) const {
  throw InputError(origin_ + ": '" + shortened(full_name(key), 80) + "' " + why);
}

bool JsonObject::has(const std::string& key) {
  known_.insert(key);
  return object_.contains(key);
}

const nlohmann::json& JsonObject::at(const std::string& key) {
  if (!has(key)) fail(key, "is missing");
  return object_.at(key);
}

std::int64_t JsonObject::to_integer(const nlohmann::json& value, std::int64_t least,
                                    std::int64_t greatest,
                                    const std::function<void(const std::string&)>& refuse) {
  constexpr std::int64_t kGreatest = std::numeric_limits<std::int64_t>::max();
  // Unsigned values above 2^63 would wrap when read as signed; integers above 2^64 were read as
  // floating point.
  const bool huge =
      (value.is_number_unsigned() &&
       value.get<std::uint64_t>() > static_cast<std::uint64_t>(kGreatest)) ||
      (value.is_number_float() && std::abs(value.get<double>()) >= static_cast<double>(kGreatest));
  const std::string range =
      "it must lie between " + std::to_string(least) + " and " + std::to_string(greatest);
  if (huge) refuse("is " + shown(value) + ", which is too large; " + range);
  if (!value.is_number_integer()) refuse("must be a whole number, not " + shown(value));
  const auto number = value.get<std::int64_t>();
  if (number < least || number > greatest) refuse("is " + shown(value) + "; " + range);
  return number;
}

std::int64_t JsonObject::integer(const std::string& key, std::int64_t least,
                                 std::int64_t greatest) {
  return to_integer(at(key), least, greatest, [&](const std::string& why) { fail(key, why); });
}

double JsonObject::to_number(const nlohmann::json& value, const std::string& key) const {
  if (value.is_number()) return value.get<double>();
  if (value == "nan") return std::nan("");
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  fail(key, "must be a number, \"nan\", \"inf\" or \"-inf\", not " + shown(value));
}

double JsonObject::to_float_number(const nlohmann::json& value, const std::string& key) const {
  const double number = to_number(value, key);
  const auto rounded = static_cast<float>(number);
  if (std::isfinite(number) && (!std::isfinite(rounded) || (rounded == 0 && number != 0)))
    fail(key, "is " + shown(value) + ", which does not fit a 32-bit float");
  return number;
}

double JsonObject::number(const std::string& key) { return to_number(at(key), key); }

double JsonObject::finite_number(const std::string& key) {
  const double value = number(key);
  if (!std::isfinite(value)) fail(key, "is " + shown(at(key)) + "; it must be finite");
  return value;
}

double JsonObject::float_number(const std::string& key) { return to_float_number(at(key), key); }

std::string JsonObject::text(const std::string& key) {
  const nlohmann::json& value = at(key);
  if (!value.is_string()) fail(key, "must be text, not " + shown(value));
  return value.get<std::string>();
}

std::vector<std::int64_t> JsonObject::integers(const std::string& key, std::int64_t least,
                                               std::int64_t greatest) {
  const nlohmann::json& list = at(key);
  if (!list.is_array()) fail(key, "must be a list of whole numbers");
  std::vector<std::int64_t> values;
  for (std::size_t i = 0; i < list.size(); ++i)
    values.push_back(to_integer(list[i], least, greatest, [&](const std::string& why) {
      fail(key + "[" + std::to_string(i) + "]", why);
    }));
  return values;
}

std::vector<double> JsonObject::float_numbers(const std::string& key) {
  const nlohmann::json& list = at(key);
  if (!list.is_array()) fail(key, "must be a list of numbers");
  std::vector<double> values;
  for (std::size_t i = 0; i < list.size(); ++i)
    values.push_back(to_float_number(list[i], key + "[" + std::to_string(i) + "]"));
  return values;
}

JsonObject JsonObject::object(const std::string& key) {
  return JsonObject(at(key), origin_, full_name(key));
}

void JsonObject::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (known_.contains(key)) continue;
    std::string keys;
    for (const std::string& known : known_) keys += (keys.empty() ? "" : ", ") + known;
    fail(key, "is not a key that is known here; known are " + keys);
  }
}

}  // namespace paged
