// A result file that is there whole or not at all.
#pragma once
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace paged {

/// Made before the work begins, so that a path that cannot be written is known before anything
/// runs: to find that out, a file is made in its folder that is gone again. Until commit(), nothing
/// is left there and nothing changed.
///
/// A regular file is replaced as a whole and keeps its permissions, and a symbolic link goes on
/// pointing to it. Nothing else is written: a FIFO would wait for a reader, perhaps for ever.
class OutputFile {
 public:
  /// Throws InputError if the file could not be written.
  explicit OutputFile(const std::filesystem::path& file);

  /// Writes the content and puts it in place of the file. Throws std::runtime_error if that fails.
  void commit(std::string_view content) const;

 private:
  void check_folder() const;
  void check_old_file() const;
  void write_all(int descriptor, std::string_view content) const;
  template <typename Error = std::runtime_error>
  [[noreturn]] void fail(const std::string& why) const;

  std::filesystem::path file_;    // as asked for
  std::filesystem::path target_;  // where its links lead
};

/// Whether two paths lead to one file, which need not exist yet.
bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace paged
