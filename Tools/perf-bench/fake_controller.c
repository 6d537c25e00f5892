/* A fake Bluetooth controller that measures the peripheral host stack attached to it.
 *
 *   fake_controller [--count N] [--mtu N] [--seconds S] [--cpu N] [--child-cpu N] [--trace]
 *                   [--tests read20,read244,write-command,notify] -- COMMAND ARGUMENT …
 *
 * It listens on a free port of 127.0.0.1, starts COMMAND with {PORT} replaced, speaks HCI H4 with
 * it, waits until it advertises, announces a connection and plays an ATT client at it. Nothing else
 * is in the way: what is measured is the peripheral. Each result is one JSON object on one line.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { H4_COMMAND = 1, H4_ACL = 2, H4_EVENT = 4 };
enum { CID_ATT = 4, CID_SIGNALLING = 5 };
enum { CONNECTION = 0x0040, ACL_LENGTH = 251, ACL_COUNT = 12 };
enum { ADVERTISING_ENABLE = 0x200A, RESET = 0x0C03, DISCONNECT = 0x0406 };
enum { ERROR_RESPONSE = 0x01, READ_RESPONSE = 0x0B, WRITE_RESPONSE = 0x13, NOTIFICATION = 0x1B };
enum { ANSWER_MS = 10000, START_MS = 30000, VALUE_MAX = 512 };

static struct {
    int count, mtu, cpu, child_cpu;
    double seconds;
    bool trace;
    const char *tests;
    char **command;
} options = {10000, 247, -1, -1, 1, false, "read20,read244,write-command", NULL};

static pid_t child = -1;
static int link_fd = -1;
static double started;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* Seconds of CPU that the peripheral has used, on the clock of its process. */
static double child_cpu_seconds(void) {
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(child, &clock) != 0 || clock_gettime(clock, &t) != 0) return 0;
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* One figure in kB of the peripheral's /proc/PID/status. */
static long child_status(const char *name) {
    char line[256];
    long value = -1;
    snprintf(line, sizeof line, "/proc/%d/status", (int)child);
    FILE *file = fopen(line, "r");
    if (file == NULL) return -1;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) value = atol(line + strlen(name) + 1);
    fclose(file);
    return value;
}

static void end_child(void) {
    if (child <= 0) return;
    kill(child, SIGTERM);
    for (int tries = 0; tries < 100; tries++) {
        if (waitpid(child, NULL, WNOHANG) == child) return;
        usleep(20000);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static void fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("fake_controller: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

/* --- bytes out and in --------------------------------------------------------------------------*/

static uint8_t outgoing[1 << 16], incoming[1 << 16];
static size_t outgoing_count, incoming_count;

static void flush(void) {
    for (size_t sent = 0; sent < outgoing_count;) {
        ssize_t count = write(link_fd, outgoing + sent, outgoing_count - sent);
        if (count > 0) {
            sent += (size_t)count;
        } else if (errno == EAGAIN) {
            struct pollfd wait = {link_fd, POLLOUT, 0};
            poll(&wait, 1, 1000);
        } else if (errno != EINTR) {
            fail("cannot send: %s", strerror(errno));
        }
    }
    outgoing_count = 0;
}

static void put(const void *bytes, size_t count) {
    if (outgoing_count + count > sizeof outgoing) flush();
    memcpy(outgoing + outgoing_count, bytes, count);
    outgoing_count += count;
}

static uint16_t get16(const uint8_t *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }

static void set16(uint8_t *bytes, unsigned value) {
    bytes[0] = (uint8_t)value;
    bytes[1] = (uint8_t)(value >> 8);
}

static void put_event(uint8_t code, const void *parameters, uint8_t count) {
    uint8_t header[3] = {H4_EVENT, code, count};
    put(header, sizeof header);
    put(parameters, count);
}

/* One L2CAP frame to the host; it fits one ACL packet, since the MTU is at most 247. */
static void put_frame(uint16_t cid, const uint8_t *payload, size_t count) {
    uint8_t header[9] = {H4_ACL};
    set16(header + 1, CONNECTION | 0x2000);
    set16(header + 3, (unsigned)count + 4);
    set16(header + 5, (unsigned)count);
    set16(header + 7, cid);
    put(header, sizeof header);
    put(payload, count);
}

/* --- commands ----------------------------------------------------------------------------------*/

/* The commands this controller knows: where Read Local Supported Commands says so (Core 6.0, Vol 4,
 * Part E, 6.27; octet 255 for none), and the return parameters after the status. */
static const struct known {
    uint16_t opcode;
    uint8_t octet, bit, count;
    uint8_t values[10];
} known_commands[] = {
    {DISCONNECT, 0, 5, 0, {0}},
    {0x0C01, 5, 6, 0, {0}},
    {RESET, 5, 7, 0, {0}},
    {0x0C63, 22, 2, 0, {0}},
    {0x0C6D, 24, 6, 0, {0}},
    {0x1001, 14, 3, 8, {0x09, 0, 0, 0x09, 0xFF, 0xFF, 0, 0}},
    {0x1002, 255, 0, 64, {0}},
    {0x1003, 14, 5, 8, {0, 0, 0, 0, 0x60, 0, 0, 0}},
    {0x1005, 14, 7, 7, {ACL_LENGTH, 0, 0, ACL_COUNT, 0, 0, 0}},
    {0x1009, 15, 1, 6, {0x55, 0x44, 0x33, 0x22, 0x11, 0x00}},
    {0x2001, 25, 0, 0, {0}},
    {0x2002, 25, 1, 3, {ACL_LENGTH, 0, ACL_COUNT}},
    {0x2003, 25, 2, 8, {0x3E, 0, 0, 0, 0, 0, 0, 0}},
    {0x2005, 25, 4, 0, {0}},
    {0x2006, 25, 5, 0, {0}},
    {0x2007, 25, 6, 1, {0}},
    {0x2008, 25, 7, 0, {0}},
    {0x2009, 26, 0, 0, {0}},
    {ADVERTISING_ENABLE, 26, 1, 0, {0}},
    {0x200F, 26, 6, 1, {8}},
    {0x2010, 26, 7, 0, {0}},
    {0x2018, 27, 7, 8, {1, 2, 3, 4, 5, 6, 7, 8}},
    {0x201C, 28, 3, 8, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x03, 0, 0}},
    {0x2022, 33, 6, 2, {CONNECTION, 0}},
    {0x2023, 33, 7, 4, {ACL_LENGTH, 0, 0x48, 0x08}},
    {0x2024, 34, 0, 0, {0}},
    {0x202F, 35, 3, 8, {ACL_LENGTH, 0, 0x48, 0x08, ACL_LENGTH, 0, 0x48, 0x08}},
};
enum { KNOWN_COUNT = sizeof known_commands / sizeof *known_commands };

static struct {
    unsigned commands;
    double first_command, advertising, cpu_seconds;
    long resident_kb;
    bool is_advertising;
} seen;

static void note_advertising(bool enabled) {
    if (enabled && seen.advertising == 0) {
        seen.advertising = now();
        seen.resident_kb = child_status("VmRSS");
        seen.cpu_seconds = child_cpu_seconds();
    }
    seen.is_advertising = enabled;
}

static void command_complete(uint16_t opcode, uint8_t status, const uint8_t *values, size_t count) {
    uint8_t parameters[4 + 64] = {1};
    set16(parameters + 1, opcode);
    parameters[3] = status;
    if (count > 0) memcpy(parameters + 4, values, count);
    put_event(0x0E, parameters, (uint8_t)(4 + count));
}

static void on_command(uint16_t opcode, const uint8_t *parameters, size_t count) {
    if (seen.commands++ == 0) seen.first_command = now();
    if (options.trace) fprintf(stderr, "command 0x%04X, %zu bytes\n", opcode, count);
    const struct known *command = known_commands;
    while (command < known_commands + KNOWN_COUNT && command->opcode != opcode) command++;
    if (command == known_commands + KNOWN_COUNT) {
        command_complete(opcode, 0x01, NULL, 0);
        return;
    }
    uint8_t values[64] = {0};
    memcpy(values, command->values, sizeof command->values);
    if (opcode == 0x1002)
        for (const struct known *one = known_commands; one < known_commands + KNOWN_COUNT; one++)
            if (one->octet < 64) values[one->octet] |= (uint8_t)(1 << one->bit);
    if (opcode == DISCONNECT) {
        const uint8_t status[4] = {0, 1, DISCONNECT & 0xFF, DISCONNECT >> 8};
        put_event(0x0F, status, sizeof status);
        const uint8_t disconnection[4] = {0, CONNECTION, 0, 0x16};
        put_event(0x05, disconnection, sizeof disconnection);
        return;
    }
    command_complete(opcode, 0, values, command->count);
    if (opcode == ADVERTISING_ENABLE && count == 1) note_advertising(parameters[0] == 1);
}

/* --- data --------------------------------------------------------------------------------------*/

static uint8_t frame[4 + 65535];
static size_t frame_count;
static uint8_t answer[VALUE_MAX + 8];
static size_t answer_count;
static bool has_answer;
static unsigned completed_packets;
static uint64_t notifications, notified_bytes, oversized;

static void on_att(const uint8_t *pdu, size_t count) {
    if (count == 0) return;
    if (count > (size_t)options.mtu) oversized++;
    if (pdu[0] == NOTIFICATION) {
        notifications++;
        notified_bytes += count - 3;
    } else if (pdu[0] == 0x02) {
        uint8_t response[3] = {0x03};
        set16(response + 1, (unsigned)options.mtu);
        put_frame(CID_ATT, response, sizeof response);
    } else if ((pdu[0] & 1) != 0 && count <= sizeof answer) {
        memcpy(answer, pdu, count);
        answer_count = count;
        has_answer = true;
    }
}

/* Accepts a Connection Parameter Update Request; anything else is left unanswered. */
static void on_signalling(const uint8_t *pdu, size_t count) {
    if (count < 4 || pdu[0] != 0x12) return;
    const uint8_t response[6] = {0x13, pdu[1], 2, 0, 0, 0};
    put_frame(CID_SIGNALLING, response, sizeof response);
}

static void on_acl(uint16_t flags, const uint8_t *data, size_t count) {
    completed_packets++;
    if ((flags & 0x3000) != 0x1000) frame_count = 0;
    if (frame_count + count > sizeof frame) fail("an L2CAP frame is too long");
    memcpy(frame + frame_count, data, count);
    frame_count += count;
    if (frame_count < 4 || frame_count < 4u + get16(frame)) return;
    uint16_t cid = get16(frame + 2);
    if (cid == CID_ATT) on_att(frame + 4, frame_count - 4);
    if (cid == CID_SIGNALLING) on_signalling(frame + 4, frame_count - 4);
    frame_count = 0;
}

/* Handles the whole packets in `bytes` and returns how many bytes they took. */
static size_t on_bytes(const uint8_t *bytes, size_t count) {
    size_t used = 0;
    for (;;) {
        const uint8_t *packet = bytes + used;
        size_t left = count - used;
        if (left < 5 && !(left == 4 && packet[0] == H4_COMMAND)) return used;
        if (packet[0] == H4_COMMAND) {
            if (left < 4u + packet[3]) return used;
            on_command(get16(packet + 1), packet + 4, packet[3]);
            used += 4u + packet[3];
        } else if (packet[0] == H4_ACL) {
            if (left < 5u + get16(packet + 3)) return used;
            on_acl(get16(packet + 1), packet + 5, get16(packet + 3));
            used += 5u + get16(packet + 3);
        } else {
            fail("packet type %u is neither command nor data", packet[0]);
        }
    }
}

/* Sends what there is, waits up to `milliseconds`, handles what came; false when nothing came. */
static bool turn(int milliseconds) {
    flush();
    struct pollfd wait = {link_fd, POLLIN, 0};
    if (poll(&wait, 1, milliseconds) <= 0) return false;
    ssize_t count = read(link_fd, incoming + incoming_count, sizeof incoming - incoming_count);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (count <= 0) fail("the peripheral closed the connection");
    incoming_count += (size_t)count;
    size_t used = on_bytes(incoming, incoming_count);
    incoming_count -= used;
    memmove(incoming, incoming + used, incoming_count);
    if (completed_packets > 0) {
        uint8_t parameters[5] = {1};
        set16(parameters + 1, CONNECTION);
        set16(parameters + 3, completed_packets);
        put_event(0x13, parameters, sizeof parameters);
        completed_packets = 0;
    }
    return true;
}

static void turn_for(double seconds) {
    for (double end = now() + seconds; now() < end;) turn((int)((end - now()) * 1000) + 1);
}

/* Sends one ATT request and waits for its answer. */
static void request(const uint8_t *pdu, size_t count) {
    has_answer = false;
    put_frame(CID_ATT, pdu, count);
    double end = now() + ANSWER_MS / 1000.0;
    while (!has_answer)
        if (!turn(ANSWER_MS) && now() > end) fail("no answer to ATT request 0x%02X", pdu[0]);
}

/* --- the client --------------------------------------------------------------------------------*/

static struct { uint16_t value, cccd; } handles[8];

/* Announces a connection as a peripheral and exchanges the MTU. */
static void begin_connection(void) {
    const uint8_t complete[19] = {
        0x01, 0, CONNECTION, 0, 1, 1, 0x01, 0x02, 0x03, 0x04, 0x05, 0xC6, 24, 0, 0, 0, 72, 0, 0};
    seen.is_advertising = false;
    put_event(0x3E, complete, sizeof complete);
    turn_for(0.1);
    uint8_t exchange[3] = {0x02};
    set16(exchange + 1, (unsigned)options.mtu);
    request(exchange, sizeof exchange);
    if (answer[0] != 0x03) fail("the MTU exchange was refused");
    if (get16(answer + 1) < options.mtu) options.mtu = get16(answer + 1);
}

/* Finds the characteristics 5d2a0001 to 5d2a0007 of the load profile. */
static void discover(void) {
    static const uint8_t base[16] = {
        0xAB, 0x89, 0x67, 0x45, 0x23, 0x01, 0x3F, 0x9E, 0x1D, 0x4C, 0x2B, 0x8A, 0, 0, 0x2A, 0x5D};
    uint16_t start = 1;
    for (;;) {
        uint8_t read_by_type[7] = {0x08, 0, 0, 0xFF, 0xFF, 0x03, 0x28};
        set16(read_by_type + 1, start);
        request(read_by_type, sizeof read_by_type);
        if (answer[0] != 0x09) break;
        size_t length = answer[1];
        for (size_t at = 2; length >= 7 && at + length <= answer_count; at += length) {
            const uint8_t *entry = answer + at;
            start = get16(entry);
            if (length == 21 && memcmp(entry + 5, base, 12) == 0 && entry[17] < 8)
                handles[entry[17]].value = get16(entry + 3);
        }
        if (start == 0xFFFF) break;
        start++;
    }
    if (handles[1].value == 0) fail("the peripheral does not have the load profile's 5d2a0001");
    if (handles[4].value == 0) return;
    uint8_t find_information[5] = {0x04, 0, 0, 0xFF, 0xFF};
    set16(find_information + 1, handles[4].value + 1u);
    request(find_information, sizeof find_information);
    if (answer[0] == 0x05 && answer[1] == 1 && get16(answer + 4) == 0x2902)
        handles[4].cccd = get16(answer + 2);
}

/* Reads a characteristic once and returns its first four octets, little-endian; -1 without one. */
static long read_number(uint16_t handle) {
    if (handle == 0) return -1;
    uint8_t read_request[3] = {0x0A};
    set16(read_request + 1, handle);
    request(read_request, sizeof read_request);
    if (answer[0] != READ_RESPONSE || answer_count < 5) return -1;
    return (long)get16(answer + 1) | (long)get16(answer + 3) << 16;
}

/* --- the measurements --------------------------------------------------------------------------*/

struct measurement { double begin, cpu; };

static struct measurement begin_measurement(void) {
    return (struct measurement){now(), child_cpu_seconds()};
}

static void report(const char *test, struct measurement from, uint64_t count, long delivered) {
    double seconds = now() - from.begin, cpu = child_cpu_seconds() - from.cpu;
    printf("{\"test\":\"%s\",\"count\":%llu,\"per_second\":%.0f,\"cpu_us\":%.4f,"
           "\"delivered\":%ld,\"oversized\":%llu}\n",
           test, (unsigned long long)count, (double)count / seconds,
           count > 0 ? cpu * 1e6 / (double)count : 0, delivered, (unsigned long long)oversized);
    fflush(stdout);
}

static void measure_reads(const char *test, uint16_t handle, size_t length) {
    if (handle == 0) return;
    uint8_t read_request[3] = {0x0A};
    set16(read_request + 1, handle);
    for (int warm = 0; warm < 100; warm++) request(read_request, sizeof read_request);
    size_t expected = 1 + (length < (size_t)options.mtu - 1 ? length : (size_t)options.mtu - 1);
    struct measurement from = begin_measurement();
    for (int index = 0; index < options.count; index++) {
        request(read_request, sizeof read_request);
        if (answer[0] != READ_RESPONSE || answer_count != expected)
            fail("%s: answer 0x%02X of %zu octets, expected %zu", test, answer[0], answer_count,
                 expected);
    }
    report(test, from, (uint64_t)options.count, -1);
}

static void measure_write_commands(void) {
    if (handles[3].value == 0) return;
    size_t length = (size_t)options.mtu - 3;
    uint8_t write_command[3 + VALUE_MAX] = {0x52};
    set16(write_command + 1, handles[3].value);
    long before = read_number(handles[7].value);
    struct measurement from = begin_measurement();
    for (int index = 0; index < options.count; index++) {
        put_frame(CID_ATT, write_command, 3 + length);
        if (outgoing_count > 8192) turn(0);
    }
    /* The answer to a read says that everything before it has been taken. */
    uint8_t barrier[3] = {0x0A};
    set16(barrier + 1, handles[1].value);
    request(barrier, sizeof barrier);
    struct measurement to = begin_measurement();
    long after = read_number(handles[7].value);
    from.begin += now() - to.begin;
    from.cpu += child_cpu_seconds() - to.cpu;
    report("write-command", from, (uint64_t)options.count, before < 0 ? -1 : after - before);
}

static void set_notifications(bool on) {
    uint8_t write_request[5] = {0x12, 0, 0, on, 0};
    set16(write_request + 1, handles[4].cccd);
    request(write_request, sizeof write_request);
    if (answer[0] != WRITE_RESPONSE) fail("the CCCD write was refused");
}

static void measure_notifications(void) {
    if (handles[4].cccd == 0) return;
    set_notifications(true);
    turn_for(0.2);
    notifications = notified_bytes = 0;
    struct measurement from = begin_measurement();
    turn_for(options.seconds);
    report("notify", from, notifications, -1);
    set_notifications(false);
    turn_for(0.2);
}

static void measure(const char *test) {
    if (strcmp(test, "read20") == 0) measure_reads(test, handles[1].value, 20);
    else if (strcmp(test, "read244") == 0) measure_reads(test, handles[2].value, 244);
    else if (strcmp(test, "write-command") == 0) measure_write_commands();
    else if (strcmp(test, "notify") == 0) measure_notifications();
    else fail("\"%s\" is not one of read20, read244, write-command, notify", test);
}

/* --- start -------------------------------------------------------------------------------------*/

static void pin(int cpu) {
    if (cpu < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) fail("cannot pin to core %d", cpu);
}

/* Puts the port where an argument of the command says {PORT}. */
static void fill_port(int port) {
    for (char **argument = options.command; *argument != NULL; argument++) {
        char *place = strstr(*argument, "{PORT}");
        if (place == NULL) continue;
        char *text = NULL;
        if (asprintf(&text, "%.*s%d%s", (int)(place - *argument), *argument, port, place + 6) < 0)
            fail("out of memory");
        *argument = text;
    }
}

static void start(void) {
    struct sockaddr_in address = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}, {0}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1) != 0
        || getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        fail("cannot listen: %s", strerror(errno));
    fill_port(ntohs(address.sin_port));
    pin(options.cpu);
    started = now();
    child = fork();
    if (child == 0) {
        pin(options.child_cpu);
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(options.trace ? 2 : null, 1);
        if (!options.trace) dup2(null, 2);
        execvp(options.command[0], options.command);
        _exit(127);
    }
    struct pollfd wait = {listener, POLLIN, 0};
    if (child < 0 || poll(&wait, 1, START_MS) <= 0) fail("nobody connected: %s", *options.command);
    link_fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    close(listener);
    setsockopt(link_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    for (double end = now() + START_MS / 1000.0; !seen.is_advertising;)
        if (!turn(START_MS) && now() > end) fail("no Advertising Enable (try --trace)");
    flush();
    printf("{\"test\":\"startup\",\"advertising_ms\":%.3f,\"first_command_ms\":%.3f,"
           "\"cpu_ms\":%.3f,\"resident_kb\":%ld,\"commands\":%u}\n",
           (seen.advertising - started) * 1e3, (seen.first_command - started) * 1e3,
           seen.cpu_seconds * 1e3, seen.resident_kb, seen.commands);
    fflush(stdout);
    turn_for(0.1);
}

static void parse(int count, char **words) {
    int index = 1;
    for (; index < count && strcmp(words[index], "--") != 0; index++) {
        const char *word = words[index], *value = index + 1 < count ? words[index + 1] : "";
        if (strcmp(word, "--trace") == 0) {
            options.trace = true;
            continue;
        }
        if (strcmp(word, "--count") == 0) options.count = atoi(value);
        else if (strcmp(word, "--mtu") == 0) options.mtu = atoi(value);
        else if (strcmp(word, "--seconds") == 0) options.seconds = atof(value);
        else if (strcmp(word, "--cpu") == 0) options.cpu = atoi(value);
        else if (strcmp(word, "--child-cpu") == 0) options.child_cpu = atoi(value);
        else if (strcmp(word, "--tests") == 0) options.tests = value;
        else fail("\"%s\" is unknown; the options stand at the head of fake_controller.c", word);
        index++;
    }
    if (index + 1 >= count) fail("name the command after --");
    if (options.mtu < 23 || options.mtu > 247) fail("--mtu is 23 to 247");
    options.command = words + index + 1;
}

int main(int count, char **words) {
    parse(count, words);
    signal(SIGPIPE, SIG_IGN);
    atexit(end_child);
    start();
    begin_connection();
    discover();
    char *tests = strdup(options.tests);
    for (char *test = strtok(tests, ","); test != NULL; test = strtok(NULL, ",")) measure(test);
    free(tests);
    return 0;
}
