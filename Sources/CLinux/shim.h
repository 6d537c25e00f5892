/* Kernel interfaces that the Glibc module leaves out. Without _GNU_SOURCE, as the Glibc module: the
 * same type must look the same in every module. */
#ifndef PERIPHERAL_EMU_CLINUX_H
#define PERIPHERAL_EMU_CLINUX_H
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <sys/signalfd.h>
#include <getopt.h>
#include <signal.h>

/* Macros with casts or sizes do not reach Swift; these do. */
static const unsigned long peripheral_emu_tiocgptn = TIOCGPTN;
static const unsigned long peripheral_emu_tiocsptlck = TIOCSPTLCK;

/* getopt_long keeps its place in variables that Swift does not let through. */
struct peripheral_emu_getopt {
    /* getopt_long's result: an option's value, '?', ':' or -1. */
    int value;
    /* Its argument, or NULL. */
    const char *argument;
    /* The next element of argv. */
    int next;
    /* What optopt says of a '?' or ':'. */
    int culprit;
};

static inline void peripheral_emu_getopt_begin(void) {
    optind = 0;
    opterr = 0;
}

static inline struct peripheral_emu_getopt peripheral_emu_getopt_next(
    int argc, char *const argv[], const struct option *options) {
    struct peripheral_emu_getopt result;
    optarg = 0;
    optopt = 0;
    result.value = getopt_long(argc, argv, ":", options, 0);
    result.argument = optarg;
    result.next = optind;
    result.culprit = optopt;
    return result;
}
#endif
