// Reading a file that a request names.
#pragma once
#include "reference/input_error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

namespace paged {

/// The whole content of a regular file. Throws InputError that names the file and says why it
/// cannot be read.
inline std::string content_of_input(const std::filesystem::path& file) {
  const auto fail = [&](const std::string& why) {
    throw InputError("cannot read '" + file.string() + "': " + why);
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) fail("there is no such file");
  if (error) fail(error.message());
  if (std::filesystem::is_directory(status)) fail("it is a folder");
  if (!std::filesystem::is_regular_file(status)) fail("it is not a regular file");

  const auto close = [](std::FILE* stream) { std::fclose(stream); };
  const std::unique_ptr<std::FILE, decltype(close)> stream(std::fopen(file.c_str(), "rb"), close);
  if (!stream) fail(std::strerror(errno));
  std::string content;
  char piece[1 << 16];
  while (const std::size_t count = std::fread(piece, 1, sizeof piece, stream.get()))
    content.append(piece, count);
  if (std::ferror(stream.get()) != 0) fail(std::strerror(errno));
  return content;
}

}  // namespace paged
