// paged: run, check and trace paged decode attention. See docs/command_line.md.
#include "kernels/device.h"
#include "reference/input_error.h"
#include "tests/paged/commands.h"

#include <exception>
#include <iostream>
#include <string>

namespace {

int complain(const std::string& message, int status) {
  std::cout.flush();
  std::cerr << "paged: " << message << '\n';
  return status;
}

/// A message on one line, whatever a library put into it.
std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Paged decode attention: run stages, check what they promise, trace addresses.");
  program.name("paged");
  program.require_subcommand(1);
  program.footer(
      "Exit status: 0 all held; 1 something measured or checked failed; 2 the request "
      "was wrong.");
  int status = paged::kAllHeld;
  paged::add_list_command(program, status);
  paged::add_run_command(program, status);
  paged::add_check_command(program, status);
  paged::add_trace_command(program, status);
  try {
    program.parse(argc, argv);
    return status;
  } catch (const CLI::CallForHelp&) {
    for (const CLI::App* command : program.get_subcommands()) {
      std::cout << command->help();
      return paged::kAllHeld;
    }
    std::cout << program.help();
    return paged::kAllHeld;
  } catch (const CLI::ParseError& error) {
    return complain(one_line(error.what()) + "; paged --help shows what there is",
                    paged::kWrongRequest);
  } catch (const paged::InputError& error) {
    return complain(one_line(error.what()), paged::kWrongRequest);
  } catch (const std::exception& error) {
    return complain(one_line(error.what()), paged::kSomethingFailed);
  }
}
