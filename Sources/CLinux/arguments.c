// The Swift runtime reads the arguments from /proc/self/cmdline. The C library has them without /proc.
extern void _swift_stdlib_overrideUnsafeArgvArgc(char **arguments, int count);
__attribute__((constructor)) static void take_arguments(int count, char **arguments) { _swift_stdlib_overrideUnsafeArgvArgc(arguments, count); }
