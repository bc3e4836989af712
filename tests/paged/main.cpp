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

/// CLI11 complains of a missing sub-command before it looks at the words there are.
void check_command_name(const CLI::App& program, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string names;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == argv[1]) return;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  throw paged::InputError("there is no sub-command '" + std::string(argv[1]) + "'; there are " +
                          names);
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
    check_command_name(program, argc, argv);
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
