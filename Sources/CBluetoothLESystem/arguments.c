// SPDX-License-Identifier: Apache-2.0
#include "shim.h"

// The Swift runtime reads the arguments from /proc/self/cmdline. The C library has them without /proc.
extern void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);
__attribute__((constructor)) static void take_arguments(int count, char **arguments) { _swift_stdlib_overrideUnsafeArgvArgc(arguments, count); }

// The linker has numbers for these symbols, not memory. A change of the numbers compiles nothing again.
extern const char blectl_commit[] __attribute__((weak));
extern const char blectl_commit_time[] __attribute__((weak));
uint64_t shim_commit(void) { return (uint64_t)(uintptr_t)blectl_commit; }
uint64_t shim_commit_time(void) { return (uint64_t)(uintptr_t)blectl_commit_time; }
