// The one error for requests that cannot be served.
#pragma once
#include <stdexcept>
#include <string>

namespace paged {

/// A request that is wrong in itself: a bad shape, length, block id, scale, file or pointer.
///
/// The message is one line that names the offending value, the limit, and the place (sequence,
/// entry, file). Nothing has been launched or written when it is thrown. The command-line tool
/// prints it and exits with status 2.
class InputError : public std::runtime_error {
 public:
  explicit InputError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace paged
