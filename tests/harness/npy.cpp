#include "tests/harness/npy.h"

#include "reference/input_error.h"
#include "tests/harness/input_file.h"

#include <charconv>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace paged {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// NumPy's name of the element type that stores a type's bits.
std::string_view descr_of(CacheType type) {
  switch (type) {
    case CacheType::f32:
      return "<f4";
    case CacheType::f16:
      return "<f2";
    case CacheType::bf16:
      return "<u2";
    default:
      return "|u1";
  }
}

/// The Python dictionary literal at the start of a .npy file, and where the data begins.
struct Header {
  std::string text;
  std::size_t data_begin;
};

Header header_of(const std::string& content, const std::filesystem::path& file) {
  const auto fail = [&](const std::string& why) -> InputError {
    return InputError("'" + file.string() + "' is not a .npy file: " + why);
  };
  if (content.size() < 10 || !content.starts_with(kMagic)) throw fail("its first bytes differ");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(content[i]); };
  const unsigned major = byte(6);
  const unsigned minor = byte(7);
  if (major < 1 || major > 3 || minor != 0)
    throw fail("format " + std::to_string(major) + "." + std::to_string(minor) + " is unknown");
  std::size_t length = byte(8) + 256U * byte(9);
  std::size_t begin = 10;
  if (major > 1) {
    if (content.size() < 12) throw fail("its header is cut off");
    length += 65536U * byte(10) + 16777216U * static_cast<std::size_t>(byte(11));
    begin = 12;
  }
  if (content.size() - begin < length) throw fail("its header is cut off");
  return {content.substr(begin, length), begin + length};
}

/// The header's entries as text, by key. Python would read the same or refuse it.
class HeaderFields {
 public:
  HeaderFields(const Header& header, const std::filesystem::path& file)
      : rest_(header.text), file_(file) {
    if (!take('{')) fail("has a header that is no dictionary");
    while (!take('}')) {
      const std::string key(take_quoted());
      if (!take(':') || !fields_.emplace(key, take_value()).second)
        fail("has a header that cannot be read");
      if (!take(',') && !starts_with('}')) fail("has a header that cannot be read");
    }
    if (skip_space(); !rest_.empty()) fail("has a header that cannot be read");
    if (fields_.size() > 3) fail("has keys in its header that are none of the format's");
  }

  std::string_view at(const std::string& key) const {
    const auto found = fields_.find(key);
    if (found == fields_.end()) fail("has no '" + key + "' in its header");
    return found->second;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw InputError("'" + file_.string() + "' " + why);
  }

 private:
  void skip_space() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n'))
      rest_.remove_prefix(1);
  }
  bool starts_with(char c) {
    skip_space();
    return rest_.starts_with(c);
  }
  bool take(char c) {
    if (!starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view take_first(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  /// A string without its quotes; none of ours has escapes.
  std::string_view take_quoted() {
    if (!starts_with('\'') && !starts_with('"')) fail("has a header that cannot be read");
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == rest_.npos) fail("has a header that cannot be read");
    return take_first(end + 1).substr(1, end - 1);
  }
  /// A string's content, a tuple with its parentheses, or a word.
  std::string_view take_value() {
    if (starts_with('\'') || starts_with('"')) return take_quoted();
    std::size_t end = rest_.find_first_of(",} \n");
    if (starts_with('(')) end = rest_.find(')') + 1;  // 0 if there is none
    if (end == 0 || end == rest_.npos) fail("has a header that cannot be read");
    return take_first(end);
  }

  std::string_view rest_;
  const std::filesystem::path& file_;
  std::map<std::string, std::string_view> fields_;
};

/// "(2, 3)", "(4,)" or "()" as numbers.
std::vector<std::int64_t> shape_of(const HeaderFields& header) {
  constexpr std::size_t kMostExtents = 8;  // no tensor of ours has more than 5
  std::string_view rest = header.at("shape");
  const auto take = [&](char c) {
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (!rest.starts_with(c)) return false;
    rest.remove_prefix(1);
    return true;
  };
  std::vector<std::int64_t> shape;
  bool good = take('(');
  bool comma = true;  // stands before the next extent
  while (good && !take(')')) {
    if (shape.size() == kMostExtents)
      header.fail("has more than " + std::to_string(kMostExtents) + " dimensions");
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    good = comma && error == std::errc() && extent >= 0;
    shape.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(next - rest.data()));
    comma = take(',');
  }
  // (4) is a number in Python, (4,) a tuple.
  if (!good || (shape.size() == 1 && !comma)) header.fail("has a shape that cannot be read");
  return shape;
}

void check_order(const HeaderFields& header) {
  const std::string_view fortran = header.at("fortran_order");
  if (fortran == "True") header.fail("is in Fortran order; store it in C order");
  if (fortran != "False") header.fail("has a fortran_order that is neither True nor False");
}

CacheType type_of(const HeaderFields& header, std::optional<CacheType> as) {
  const std::string_view descr = header.at("descr");
  if (descr == "<f4") return CacheType::f32;
  if (descr == "<f2") return CacheType::f16;
  const bool bits_of_as = as && (descr == descr_of(*as) || (is_fp8(*as) && descr == "<u1"));
  if (bits_of_as) return *as;
  header.fail("holds elements of type " + std::string(descr.substr(0, 20)) +
              "; expected <f4 (f32)" +
              (as == CacheType::bf16 ? ", <f2 (f16) or <u2 (bf16)"
               : as && is_fp8(*as)   ? ", <f2 (f16) or |u1 (fp8)"
                                     : " or <f2 (f16)"));
}

}  // namespace

Tensor read_npy(const std::filesystem::path& file, std::optional<CacheType> as) {
  const std::string content = content_of_input(file);
  const Header header = header_of(content, file);
  const HeaderFields fields(header, file);
  check_order(fields);
  const CacheType type = type_of(fields, as);
  const std::vector<std::int64_t> shape = shape_of(fields);

  // Compare sizes before allocating: a damaged shape must not ask for terabytes.
  const std::size_t stored = content.size() - header.data_begin;
  std::size_t elements = 1;
  for (std::int64_t extent : shape)
    if (__builtin_mul_overflow(elements, static_cast<std::size_t>(extent), &elements))
      throw InputError("'" + file.string() + "' claims shape " + to_string(shape) +
                       ", which is too large");
  const std::size_t width = size_in_bytes(type);
  if (stored % width != 0 || stored / width != elements)
    throw InputError("'" + file.string() + "' claims shape " + to_string(shape) + " of " +
                     std::string(name_of(type)) + " but holds " + std::to_string(stored) +
                     " bytes of data, not " + std::to_string(elements) + " elements of " +
                     std::to_string(width) + " bytes");
  Tensor tensor(type, shape);
  if (stored > 0) std::memcpy(tensor.data(), content.data() + header.data_begin, stored);
  return tensor;
}

std::string npy_of(const Tensor& tensor) {
  std::string shape;
  for (std::int64_t extent : tensor.shape()) shape += std::to_string(extent) + ", ";
  if (tensor.shape().size() > 1) shape.resize(shape.size() - 2);
  std::string header = "{'descr': '" + std::string(descr_of(tensor.type())) +
                       "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The data starts at a multiple of 64 bytes, and a newline ends the header.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';

  const std::size_t length = header.size();
  std::string content(kMagic);
  content += {'\x01', '\0', static_cast<char>(length % 256), static_cast<char>(length / 256)};
  content += header;
  content.append(reinterpret_cast<const char*>(tensor.data()), tensor.size_in_bytes());
  return content;
}

}  // namespace paged
