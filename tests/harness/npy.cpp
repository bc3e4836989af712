#include "tests/harness/npy.h"

#include "reference/input_error.h"
#include "tests/harness/output_file.h"

#include <cctype>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
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

std::string read_whole(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw InputError("cannot read '" + file.string() + "': it is a folder");
  if (!std::filesystem::is_regular_file(file, error))
    throw InputError("cannot read '" + file.string() + "': there is no such file");
  std::ifstream stream(file, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) throw InputError("cannot read '" + file.string() + "'");
  return content;
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
  if (major < 1 || major > 3) throw fail("format " + std::to_string(major) + " is unknown");
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

/// The text after `'key':` in the header.
std::string_view field(const Header& header, std::string_view key,
                       const std::filesystem::path& file) {
  const std::string quoted = "'" + std::string(key) + "'";
  std::size_t at = header.text.find(quoted);
  if (at != std::string::npos) at = header.text.find(':', at + quoted.size());
  if (at == std::string::npos)
    throw InputError("'" + file.string() + "' has no " + quoted + " in its header");
  std::string_view rest = std::string_view(header.text).substr(at + 1);
  while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front())))
    rest.remove_prefix(1);
  return rest;
}

std::vector<std::int64_t> shape_of(const Header& header, const std::filesystem::path& file) {
  std::string_view rest = field(header, "shape", file);
  const auto bad = [&] {
    return InputError("'" + file.string() + "' has a shape that cannot be read");
  };
  const std::size_t end = rest.find(')');
  if (rest.empty() || rest.front() != '(' || end == std::string_view::npos) throw bad();
  rest = rest.substr(1, end - 1);
  std::vector<std::int64_t> shape;
  while (!rest.empty()) {
    const char c = rest.front();
    if (c == ',' || c == ' ') {
      rest.remove_prefix(1);
      continue;
    }
    std::int64_t extent = 0;
    const auto [next, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0) throw bad();
    shape.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(next - rest.data()));
  }
  return shape;
}

CacheType type_of(const Header& header, std::optional<CacheType> as,
                  const std::filesystem::path& file) {
  std::string_view rest = field(header, "descr", file);
  const std::size_t end = rest.size() > 1 ? rest.find(rest.front(), 1) : std::string_view::npos;
  if (end == std::string_view::npos || (rest.front() != '\'' && rest.front() != '"'))
    throw InputError("'" + file.string() + "' has an element type that cannot be read");
  const std::string_view descr = rest.substr(1, end - 1);
  if (descr == "<f4") return CacheType::f32;
  if (descr == "<f2") return CacheType::f16;
  const bool bits_of_as = as && (descr == descr_of(*as) || (is_fp8(*as) && descr == "<u1"));
  if (bits_of_as) return *as;
  throw InputError("'" + file.string() + "' holds elements of type " + std::string(descr) +
                   "; expected <f4 (f32)" +
                   (as == CacheType::bf16 ? ", <f2 (f16) or <u2 (bf16)"
                    : as && is_fp8(*as)   ? ", <f2 (f16) or |u1 (fp8)"
                                          : " or <f2 (f16)"));
}

}  // namespace

Tensor read_npy(const std::filesystem::path& file, std::optional<CacheType> as) {
  const std::string content = read_whole(file);
  const Header header = header_of(content, file);
  if (!field(header, "fortran_order", file).starts_with("False"))
    throw InputError("'" + file.string() + "' is in Fortran order; store it in C order");
  const CacheType type = type_of(header, as, file);
  const std::vector<std::int64_t> shape = shape_of(header, file);

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

void write_npy(const std::filesystem::path& file, const Tensor& tensor) {
  OutputFile(file).commit(npy_of(tensor));
}

}  // namespace paged
