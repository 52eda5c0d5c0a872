// Defines functions that sid's static Swift runtime (built with glibc 2.42 and GCC 16) needs and Debian 12 (glibc 2.36, GCC 12) lacks. The program then
// runs with glibc 2.36. scripts/parts/arm64/sdk compares the symbols and names the ones that are missing here.
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

// C23 lets these also read binary numbers (0b1); the runtime does not depend on it.
extern long plain_strtol(const char *, char **, int) __asm__("strtol");
extern unsigned long plain_strtoul(const char *, char **, int) __asm__("strtoul");
extern long long plain_strtoll(const char *, char **, int) __asm__("strtoll");
extern unsigned long long plain_strtoull(const char *, char **, int) __asm__("strtoull");
extern int plain_vsscanf(const char *, const char *, va_list) __asm__("vsscanf");
long __isoc23_strtol(const char *text, char **end, int base) { return plain_strtol(text, end, base); }
unsigned long __isoc23_strtoul(const char *text, char **end, int base) { return plain_strtoul(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return plain_strtoll(text, end, base); }
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) { return plain_strtoull(text, end, base); }
int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = plain_vsscanf(text, format, arguments);
  va_end(arguments);
  return count;
}

// glibc 2.38.
size_t strlcpy(char *to, const char *from, size_t size) {
  size_t length = strlen(from);
  if (size) {
    size_t count = length < size ? length : size - 1;
    memcpy(to, from, count);
    to[count] = 0;
  }
  return length;
}
size_t strlcat(char *to, const char *from, size_t size) {
  size_t length = strnlen(to, size);
  return length == size ? size + strlen(from) : length + strlcpy(to + length, from, size - length);
}

// GCC 13: objects that use iostream refer to it, so that the linker adds the object that initializes std::cout. GCC 12's library initializes it without this.
void _ZSt21ios_base_library_initv(void) {}
