#include "shim.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Of <term.h>, whose macros have every word's name.
extern char *tigetstr(const char *);

// What handlers need, who may not call ncurses.
static struct {
  SCREEN *screen;
  int pipe;
  // The terminal, for its settings and for its screen.
  int input, output;
  struct termios before;
  // What makes the terminal as it was.
  char leave[256];
  // Who would hear of crashes: the Swift runtime, for one.
  int takes_crashes;
  struct sigaction crash[NSIG];
} shim_state;

static void shim_on_screen_signal(int number) {
  int saved = errno;
  unsigned char byte = (unsigned char)number;
  if (write(shim_state.pipe, &byte, 1) < 0) { /* full: an earlier one is still unread, which is enough */ }
  errno = saved;
}

// Even a defect of ours leaves a terminal that can be typed on.
static void shim_on_crash(int number) {
  tcsetattr(shim_state.input, TCSANOW, &shim_state.before);
  if (write(shim_state.output, shim_state.leave, strlen(shim_state.leave)) < 0) { /* there is none any more */ }
  sigaction(number, &shim_state.crash[number], NULL);
  raise(number);
}

// A thread of our parent's that had it blocked has passed that on.
static void shim_unblock(int number) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

static void shim_take(int number, void (*handler)(int)) {
  struct sigaction action;
  shim_unblock(number);
  if (sigaction(number, NULL, &action) != 0 || action.sa_handler != SIG_DFL) return;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, NULL);
}

static void shim_give_back(int number, void (*handler)(int)) {
  struct sigaction action;
  if (sigaction(number, NULL, &action) == 0 && action.sa_handler == handler) signal(number, SIG_DFL);
}

static void shim_take_crashes(int take) {
  if (take == shim_state.takes_crashes) return;
  shim_state.takes_crashes = take;
  const int crashes[] = { SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV };
  for (size_t index = 0; index < sizeof crashes / sizeof *crashes; index++) {
    struct sigaction action, *before = &shim_state.crash[crashes[index]];
    memset(&action, 0, sizeof action);
    action.sa_handler = shim_on_crash;
    // A stack that has overflowed takes no handler: the runtime has made another.
    action.sa_flags = SA_ONSTACK;
    // What is ignored is no crash.
    if (take && sigaction(crashes[index], NULL, before) == 0 && before->sa_handler == SIG_IGN) continue;
    sigaction(crashes[index], take ? &action : before, NULL);
    shim_unblock(crashes[index]);
  }
}

void shim_guard_terminal(int input, const struct termios *before, const char *leave) {
  shim_state.input = input;
  shim_state.output = isatty(STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO;
  shim_state.before = *before;
  strncpy(shim_state.leave, leave, sizeof shim_state.leave - 1);
  shim_take_crashes(1);
}

void shim_unguard_terminal(void) { shim_take_crashes(0); }

static void shim_leave_with(const char *name) {
  char *leave = shim_state.leave;
  const char *text = tigetstr(name);
  if (!text || text == (char *)-1) return;
  // Padding ($<5>) is for terminals of other days.
  if (strlen(leave) + strlen(text) < 200 && !strstr(text, "$<")) strcat(leave, text);
}

int shim_screen_has_utf8(void) {
  setlocale(LC_CTYPE, "");
  return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 || setlocale(LC_CTYPE, "C.UTF-8");
}

int shim_screen_start(int utf8, int colours, int pipe, int rows, int columns) {
  setlocale(LC_CTYPE, "");
  int is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  if (utf8 && !is_utf8) setlocale(LC_CTYPE, "C.UTF-8");
  if (!utf8) setlocale(LC_CTYPE, "C");
  shim_state.input = STDIN_FILENO;
  shim_state.output = STDOUT_FILENO;
  tcgetattr(STDIN_FILENO, &shim_state.before);
  shim_state.pipe = pipe;
  shim_take(SIGTSTP, shim_on_screen_signal);
  shim_take(SIGWINCH, shim_on_screen_signal);
  // ncurses would take any size from the terminal or the environment, and allocate memory for it.
  use_env(FALSE);
  shim_state.screen = newterm(NULL, stdout, stdin);
  // Terminals like Kitty bring a description of their own, which a program with capabilities does not read: see LibraryEnvironment.
  const char *kind = getenv("TERM");
  if (!shim_state.screen && kind && strncmp(kind, "xterm-", 6) == 0) shim_state.screen = newterm("xterm", stdout, stdin);
  if (!shim_state.screen) return 0;
  resize_term(rows, columns);
  shim_state.leave[0] = 0;
  shim_leave_with("sgr0");
  shim_leave_with("rmkx");
  shim_leave_with("cnorm");
  shim_leave_with("rmcup");
  strcat(shim_state.leave, "\x1b[?1000l\x1b[?1006l");
  shim_take_crashes(1);
  cbreak();
  noecho();
  nonl();
  intrflush(stdscr, FALSE);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  set_escdelay(25);
  curs_set(0);
  // Terminals that do not follow the application mode of their cursor keys.
  static const struct { const char *text; int key; } plain[] = {
    { "\x1b[A", KEY_UP }, { "\x1b[B", KEY_DOWN }, { "\x1b[C", KEY_RIGHT }, { "\x1b[D", KEY_LEFT }, { "\x1b[H", KEY_HOME }, { "\x1b[F", KEY_END },
    { "\x1b[Z", KEY_BTAB },
  };
  for (size_t index = 0; index < sizeof plain / sizeof *plain; index++)
    if (!key_defined(plain[index].text)) define_key(plain[index].text, plain[index].key);
  // A stopped output would stop the links: Ctrl-S is a key like others here.
  struct termios now;
  if (tcgetattr(STDIN_FILENO, &now) == 0) {
    now.c_iflag &= ~(tcflag_t)IXON;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
    def_prog_mode();
  }
  if (colours && has_colors()) {
    start_color();
    use_default_colors();
    for (short colour = 1; colour < 8; colour++) init_pair(colour, colour, -1);
  }
  mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
  mouseinterval(0);
  return 1;
}

void shim_screen_end(void) {
  if (!shim_state.screen) return;
  mousemask(0, NULL);
  endwin();
  delscreen(shim_state.screen);
  shim_state.screen = NULL;
  shim_give_back(SIGTSTP, shim_on_screen_signal);
  shim_give_back(SIGWINCH, shim_on_screen_signal);
  shim_take_crashes(0);
}

void shim_screen_stop(void) {
  endwin();
  signal(SIGTSTP, SIG_DFL);
  raise(SIGTSTP);
  shim_take(SIGTSTP, shim_on_screen_signal);
}

void shim_screen_resume(void) {
  reset_prog_mode();
  clearok(curscr, TRUE);
}

void shim_screen_draw(int row, int column, const char *text, int colour, int bold, int dim, int reverse) {
  attr_t attributes = (bold ? A_BOLD : 0) | (dim ? A_DIM : 0) | (reverse ? A_REVERSE : 0);
  wattr_set(stdscr, attributes, (short)(has_colors() ? colour : 0), NULL);
  mvwaddnstr(stdscr, row, column, text, -1);
}

void shim_screen_clear_rest(int row, int column) {
  wattr_set(stdscr, A_NORMAL, 0, NULL);
  if (wmove(stdscr, row, column) == OK) wclrtoeol(stdscr);
}

void shim_screen_show(int row, int column) {
  if (row >= 0) wmove(stdscr, row, column);
  curs_set(row >= 0 ? 1 : 0);
  wrefresh(stdscr);
}

int shim_screen_rows(void) { return getmaxy(stdscr); }
int shim_screen_columns(void) { return getmaxx(stdscr); }

int shim_screen_key(int *key) {
  wint_t code = 0;
  int kind = wget_wch(stdscr, &code);
  *key = (int)code;
  return kind == OK ? 1 : kind == KEY_CODE_YES ? 2 : 0;
}

int shim_screen_mouse(int *row, int *column) {
  MEVENT event;
  if (getmouse(&event) != OK) return 0;
  *row = event.y;
  *column = event.x;
  return event.bstate & BUTTON1_PRESSED ? 1 : event.bstate & BUTTON4_PRESSED ? 4 : event.bstate & BUTTON5_PRESSED ? 5 : 0;
}
