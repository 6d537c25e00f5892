/* Kernel interfaces that the Glibc module leaves out. Without _GNU_SOURCE, as the Glibc module: the
 * same type must look the same in every module. */
#ifndef PERIPHERAL_EMU_CLINUX_H
#define PERIPHERAL_EMU_CLINUX_H
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <sys/signalfd.h>
#include <getopt.h>
#include <signal.h>
#include <stdint.h>

/* Macros with casts or sizes do not reach Swift; these do. */
static const unsigned long peripheral_emu_tiocgptn = TIOCGPTN;
static const unsigned long peripheral_emu_tiocsptlck = TIOCSPTLCK;

/* POSIX_SPAWN_SETSID (spawn.h), which only _GNU_SOURCE shows. */
static const int peripheral_emu_spawn_setsid = 0x80;

/* A file in memory (memfd_create(2)), which only _GNU_SOURCE shows. */
extern int memfd_create(const char *name, unsigned int flags);
static const unsigned int peripheral_emu_mfd_cloexec = 1;

/* The process ends with the one that started it (PR_SET_PDEATHSIG of prctl(2)). */
static inline int peripheral_emu_end_with_parent(void) {
    return prctl(PR_SET_PDEATHSIG, SIGTERM);
}

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

/* glibc has these two calls and no header for them; the kernel's own clashes with glibc's others
 * (capget(2)). The header is version 3 and the calling process; the data is effective, permitted
 * and inheritable of the low half, then of the high half. */
extern int capget(uint32_t *header, uint32_t *data);
extern int capset(uint32_t *header, const uint32_t *data);
static const int peripheral_emu_cap_dac_override = 1;
static const int peripheral_emu_cap_net_admin = 12;

/* The capabilities that the process may use, one bit each. */
static inline uint64_t peripheral_emu_capabilities(void) {
    uint32_t header[2] = {0x20080522, 0};
    uint32_t data[6] = {0};
    if (capget(header, data) != 0) return 0;
    return (uint64_t)data[3] << 32 | data[0];
}

/* Gives up all capabilities but those of the mask, for good; 0 or -1 with errno. */
static inline int peripheral_emu_keep_capabilities(uint64_t mask) {
    uint32_t header[2] = {0x20080522, 0};
    uint32_t data[6];
    if (capget(header, data) != 0) return -1;
    for (int half = 0; half < 2; half++) {
        uint32_t *const set = data + 3 * half;
        set[1] &= (uint32_t)(mask >> (32 * half));
        set[0] = set[1];
        set[2] = 0;
    }
    return capset(header, data);
}
#endif
