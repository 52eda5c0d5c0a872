// What only the static program needs, of which scripts/release makes .build/release/blectl-static: it has no loader, brings its own C library, and may run
// where there is no /proc. `__wrap_X` takes the place of X everywhere (see ld --wrap).
#include <langinfo.h>
#include <locale.h>
#include <netdb.h>
#include <pwd.h>
#include <string.h>

// At every start the runtime looks beside the program, by /proc, for one that shows where it crashed, and aborts without /proc. There is none.
const char *__wrap_swift_copyAuxiliaryExecutablePath(const char *name) { (void)name; return NULL; }

// The modules that a machine names for looking up hosts and users belong to its C library, and crash in ours (seen with libnss-myhostname). Files and DNS
// are inside.
extern int __nss_configure_lookup(const char *database, const char *services);
extern int __real_getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
  __nss_configure_lookup("hosts", "files dns");
  return __real_getaddrinfo(host, service, hints, found);
}
extern struct passwd *__real_getpwnam(const char *);
struct passwd *__wrap_getpwnam(const char *name) {
  __nss_configure_lookup("passwd", "files");
  return __real_getpwnam(name);
}
extern struct passwd *__real_getpwuid(uid_t);
struct passwd *__wrap_getpwuid(uid_t user) {
  __nss_configure_lookup("passwd", "files");
  return __real_getpwuid(user);
}

// So do those that turn another charset into Unicode.
extern char *__real_setlocale(int, const char *);
char *__wrap_setlocale(int category, const char *name) {
  char *chosen = __real_setlocale(category, name);
  if (!chosen || !name || category != LC_CTYPE || strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return chosen;
  return __real_setlocale(category, "C");
}
