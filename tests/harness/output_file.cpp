#include "tests/harness/output_file.h"

#include "reference/input_error.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace paged {
namespace {

namespace fs = std::filesystem;

/// An absolute path without links; also where the last link leads to nothing yet.
fs::path target_of(const fs::path& file, std::error_code& error) {
  constexpr int kMostLinks = 40;
  fs::path target = fs::absolute(file, error);
  for (int links = 0; links < kMostLinks && !error; ++links) {
    target = fs::weakly_canonical(target, error);
    std::error_code missing;
    if (error || !fs::is_symlink(fs::symlink_status(target, missing))) return target;
    target = target.parent_path() / fs::read_symlink(target, error);
  }
  if (!error) error = std::make_error_code(std::errc::too_many_symbolic_link_levels);
  return target;
}

bool is_standard_output(const struct stat& file) {
  struct stat out;
  return fstat(STDOUT_FILENO, &out) == 0 && out.st_dev == file.st_dev && out.st_ino == file.st_ino;
}

/// 0, or why no file can be made in a folder whose permissions allow it: one of /proc, say. Where
/// the file system can, it makes one without a name; else one that is gone again at once.
int error_of_new_file(const fs::path& folder) {
  int descriptor = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    std::string temporary = (folder / ".paged-XXXXXX").string();
    descriptor = mkostemp(temporary.data(), O_CLOEXEC);
    if (descriptor < 0) return errno;
    unlink(temporary.c_str());
  }
  close(descriptor);
  return 0;
}

/// The permissions that a new file gets.
mode_t default_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

OutputFile::OutputFile(const fs::path& file) : file_(file) {
  if (file_.empty()) fail<InputError>("the name is empty");
  std::error_code error;
  const fs::file_status status = fs::status(file_, error);
  if (status.type() == fs::file_type::directory) fail<InputError>("it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status))
    fail<InputError>("it is not a regular file");
  target_ = target_of(file_, error);
  if (error) fail<InputError>(error.message());
  check_folder();
  if (fs::exists(status)) check_old_file();
}

void OutputFile::check_folder() const {
  const fs::path folder = target_.parent_path();
  std::error_code error;
  if (!fs::is_directory(folder, error))
    fail<InputError>("there is no folder '" + folder.string() + "'");
  if (target_.filename().empty()) fail<InputError>("it names a folder");
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    fail<InputError>("its folder cannot be written: " + std::string(std::strerror(errno)));
  if (const int why = error_of_new_file(folder); why != 0)
    fail<InputError>("no file can be made in its folder: " + std::string(std::strerror(why)));
}

void OutputFile::check_old_file() const {
  struct stat old;
  struct stat folder;
  if (access(target_.c_str(), W_OK) != 0 || stat(target_.c_str(), &old) != 0 ||
      stat(target_.parent_path().c_str(), &folder) != 0)
    fail<InputError>(std::strerror(errno));
  if (is_standard_output(old)) fail<InputError>("standard output goes there");
  const uid_t me = geteuid();
  const bool sticky = (folder.st_mode & S_ISVTX) != 0;
  if (sticky && me != 0 && me != old.st_uid && me != folder.st_uid)
    fail<InputError>("it belongs to somebody else, and only its owner may replace it there");
}

void OutputFile::commit(std::string_view content) const {
  struct stat old;
  const mode_t mode = stat(target_.c_str(), &old) == 0 ? old.st_mode & 07777 : default_mode();
  // A short name of its own: a suffix could make a long name too long.
  std::string temporary = (target_.parent_path() / ".paged-XXXXXX").string();
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) fail(std::strerror(errno));
  try {
    write_all(descriptor, content);
    if (chmod(temporary.c_str(), mode) != 0 || rename(temporary.c_str(), target_.c_str()) != 0)
      fail(std::strerror(errno));
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
}

/// Writes everything and closes the descriptor.
void OutputFile::write_all(int descriptor, std::string_view content) const {
  int error = 0;
  while (!content.empty() && error == 0) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written >= 0)
      content.remove_prefix(static_cast<std::size_t>(written));
    else if (errno != EINTR)
      error = errno;
  }
  if (close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) fail(std::strerror(error));
}

template <typename Error>
void OutputFile::fail(const std::string& why) const {
  throw Error("cannot write '" + file_.string() + "': " + why);
}

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::equivalent(a, b, error)) return true;
  const fs::path target = target_of(a, error);
  if (error) return false;
  const bool same = target == target_of(b, error);
  return same && !error;
}

}  // namespace paged
