// A result file that is there whole or not at all.
#pragma once
#include <filesystem>
#include <string_view>

namespace paged {

/// Opened before the work begins, so that a path that cannot be written is known before anything
/// runs; replaced only by complete content. The content goes to a temporary file beside it, which
/// goes away if commit() is never called.
class OutputFile {
 public:
  /// Throws InputError if the file could not be written. An existing file stays as it is.
  explicit OutputFile(std::filesystem::path file);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Writes the content and puts it in place of the file. Throws InputError if that fails.
  void commit(std::string_view content);

 private:
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path file_;
  std::filesystem::path temporary_;
};

}  // namespace paged
