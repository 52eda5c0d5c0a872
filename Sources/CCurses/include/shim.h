// What Swift cannot import of ncurses: its macros, attributes and mouse buttons; and what a signal's handler does, which only C can say.
#ifndef BLECTL_CCURSES_H
#define BLECTL_CCURSES_H

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS
#include <curses.h>
#include <signal.h>
#include <termios.h>

// From now on, until shim_unguard_terminal, a crash or Ctrl-\ gives the terminal these settings and writes `leave`, at most 255 bytes.
void shim_guard_terminal(int input, const struct termios *before, const char *leave);
void shim_unguard_terminal(void);

// Whether the C library knows how UTF-8 is drawn, by the user's locale or by one of its own.
int shim_screen_has_utf8(void);

// Takes the terminal. 0 when its kind is not known; the handlers are installed before, so that ncurses leaves the signals alone.
int shim_screen_start(int utf8, int colours, int pipe, int rows, int columns);
void shim_screen_end(void);

// Stops this process as Ctrl-Z does, with the terminal as it was; returns when it goes on.
void shim_screen_stop(void);

// Everything is drawn anew: others may have written to the terminal. Its modes are ours again.
void shim_screen_resume(void);
void shim_screen_draw(int row, int column, const char *text, int colour, int bold, int dim, int reverse);
void shim_screen_clear_rest(int row, int column);
void shim_screen_show(int row, int column);
int shim_screen_rows(void);
int shim_screen_columns(void);

// 0: none; 1: a character; 2: a key of its own.
int shim_screen_key(int *key);

// 1: clicked, 4: wheel up, 5: wheel down, 0: something else.
int shim_screen_mouse(int *row, int *column);

#endif
