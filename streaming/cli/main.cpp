#include "cli/commands.h"

int main(int argc, char** argv) {
  return nustream::cli::run(argc, argv);
}
