/* Kernel interfaces that the Glibc module leaves out. */
#ifndef PERIPHERAL_EMU_CLINUX_H
#define PERIPHERAL_EMU_CLINUX_H
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <sys/signalfd.h>
#include <getopt.h>
#include <signal.h>
#endif
