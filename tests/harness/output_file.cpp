#include "tests/harness/output_file.h"

#include "reference/input_error.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

namespace paged {

OutputFile::OutputFile(std::filesystem::path file) : file_(std::move(file)) {
  if (file_.empty()) fail("the name is empty");
  std::error_code error;
  if (std::filesystem::is_directory(file_, error)) fail("it is a folder");
  temporary_ = file_;
  temporary_ += "." + std::to_string(getpid()) + ".part";
  errno = 0;
  if (!std::ofstream(temporary_, std::ios::binary)) {
    const int why = errno;
    temporary_.clear();
    fail(why == 0 ? "it cannot be opened" : std::strerror(why));
  }
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!temporary_.empty()) std::filesystem::remove(temporary_, ignored);
}

void OutputFile::commit(std::string_view content) {
  std::ofstream stream(temporary_, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream) fail("the device is full or gone");
  std::error_code error;
  std::filesystem::rename(temporary_, file_, error);
  if (error) fail(error.message());
  temporary_.clear();
}

void OutputFile::fail(const std::string& why) const {
  throw InputError("cannot write '" + file_.string() + "': " + why);
}

}  // namespace paged
