// Blocks of measurements: tables made from the recorded results of docs/measurements.
#include "reference/input_error.h"
#include "tests/harness/input_file.h"
#include "walkthroughs/pages/page_blocks.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <vector>

namespace paged {
namespace {

using nlohmann::json;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// What a block asks for. Blanks in values are written as underscores.
struct Request {
  std::string file;
  std::map<std::string, std::vector<std::string>> filters;
  std::vector<std::string> rows;
  std::string columns, value;
};

Request request_of(const MarkedBlock& block) {
  Request request;
  std::istringstream words(block.argument);
  words >> request.file;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) throw InputError("'" + word + "' is no KEY=VALUE");
    const std::string key = word.substr(0, equals);
    std::string value = word.substr(equals + 1);
    if (key == "rows")
      request.rows = split(value, ',');
    else if (key == "columns")
      request.columns = value;
    else if (key == "value")
      request.value = value;
    else {
      std::replace(value.begin(), value.end(), '_', ' ');
      request.filters[key] = split(value, ',');
    }
  }
  if (request.rows.empty() || request.columns.empty() || request.value.empty())
    throw InputError("a measured block takes a file, rows=KEY,... columns=KEY and value=KEY");
  return request;
}

/// Four digits from 1000 on, else one behind the point: as exact as runs repeat.
std::string number(const json& value) {
  char text[32];
  std::snprintf(text, sizeof text, value.get<double>() >= 1000 ? "%.0f" : "%.1f",
                value.get<double>());
  return text;
}

std::string text_of(const json& result, const std::string& key) {
  const auto found = result.find(key);
  if (found == result.end()) throw InputError("results have no key '" + key + "'");
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_float() ? number(*found) : found->dump();
}

bool is_wanted(const json& result, const Request& request) {
  for (const auto& [key, values] : request.filters)
    if (std::find(values.begin(), values.end(), text_of(result, key)) == values.end()) return false;
  return true;
}

/// Position of a label among those seen before, in order of appearance.
template <typename Label>
std::size_t place_of(std::vector<Label>& labels, const Label& label) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found != labels.end()) return static_cast<std::size_t>(found - labels.begin());
  labels.push_back(label);
  return labels.size() - 1;
}

std::string table_of(const json& results, const Request& request) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> columns;
  std::map<std::pair<std::size_t, std::size_t>, std::string> cells;
  for (const json& result : results) {
    if (!is_wanted(result, request)) continue;
    std::vector<std::string> label;
    for (const std::string& key : request.rows) label.push_back(text_of(result, key));
    const std::size_t row = place_of(rows, label);
    const std::size_t column = place_of(columns, text_of(result, request.columns));
    if (!cells.emplace(std::pair(row, column), number(result.at(request.value))).second)
      throw InputError("two results stand in one cell; name more keys");
  }
  if (rows.empty()) throw InputError("no result has these values");
  std::string text = "|";
  for (const std::string& key : request.rows) text += " " + key + " |";
  for (const std::string& column : columns) text += " " + column + " |";
  text += "\n|";
  for (std::size_t i = 0; i < request.rows.size() + columns.size(); ++i) text += " --- |";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    text += "\n|";
    for (const std::string& part : rows[row]) text += " " + part + " |";
    for (std::size_t column = 0; column < columns.size(); ++column) {
      const auto cell = cells.find({row, column});
      text += cell == cells.end() ? " - |" : " " + cell->second + " |";
    }
  }
  return text + "\n";
}

}  // namespace

std::string measured_lines(const MarkedBlock& block, const PagePlace& place) {
  const Request request = request_of(block);
  const json content =
      json::parse(content_of_input(place.root / request.file), nullptr, /*allow_exceptions=*/false);
  if (!content.is_object() || !content.contains("results"))
    throw InputError(request.file + " is no file of results");
  const std::string link =
      std::filesystem::relative(place.root / request.file, place.page.parent_path())
          .generic_string();
  return table_of(content.at("results"), request) + "\n" + request.value + " by " +
         request.columns + "; " + text_of(content, "device") + ", commit " +
         text_of(content, "commit") + "; " + text_of(content, "method") + " ([" +
         std::filesystem::path(request.file).filename().string() + "](" + link + "))\n";
}

}  // namespace paged
