/* The floor: a peripheral host that does the least possible, to compare speeds with.
 *
 *   floor PORT
 *
 * It serves the load profile by fixed answers to a fake controller at 127.0.0.1:PORT: no attribute
 * table, no permissions, no checks. What it costs is the kernel's sockets and nearly nothing else.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { H4_COMMAND = 1, H4_ACL = 2, H4_EVENT = 4, HEADERS = 9 };
enum { MTU_DEFAULT = 23, MTU_OWN = 247, CREDITS = 12 };
enum { SERVICE = 1, READ20 = 3, READ244 = 5, WRITE = 7, NOTIFY = 9, CCCD = 10, COUNTER = 12 };
enum { NOT_FOUND = 0x0A, INVALID_HANDLE = 0x01, NOT_SUPPORTED = 0x06 };

static int link_fd;
static uint8_t incoming[1 << 16], outgoing[1 << 16];
static size_t incoming_count, outgoing_count;
static uint16_t connection;
static unsigned mtu = MTU_DEFAULT, credits = CREDITS;
static bool subscribed;
static uint32_t written;
static uint8_t value[244];

static uint16_t get16(const uint8_t *bytes) { return (uint16_t)(bytes[0] | bytes[1] << 8); }

static void set16(uint8_t *bytes, unsigned number) {
    bytes[0] = (uint8_t)number;
    bytes[1] = (uint8_t)(number >> 8);
}

static void flush(void) {
    for (size_t sent = 0; sent < outgoing_count;) {
        ssize_t count = write(link_fd, outgoing + sent, outgoing_count - sent);
        if (count > 0) {
            sent += (size_t)count;
        } else if (errno == EAGAIN) {
            struct pollfd wait = {link_fd, POLLOUT, 0};
            poll(&wait, 1, -1);
        } else {
            exit(0);
        }
    }
    outgoing_count = 0;
}

static uint8_t *room(size_t count) {
    if (outgoing_count + count > sizeof outgoing) flush();
    uint8_t *place = outgoing + outgoing_count;
    outgoing_count += count;
    return place;
}

/* --- start-up: one command after the other, each sent when the one before was answered ---------*/

static const struct {
    uint16_t opcode;
    uint8_t count;
    uint8_t parameters[32];
} commands[] = {
    {0x0C03, 0, {0}},
    {0x1001, 0, {0}},
    {0x1002, 0, {0}},
    {0x2003, 0, {0}},
    {0x2002, 0, {0}},
    {0x1009, 0, {0}},
    {0x0C01, 8, {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F}},
    {0x2001, 8, {0x1F}},
    {0x2005, 6, {0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xC0}},
    {0x2006, 15, {0x20, 0, 0x20, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 0}},
    {0x2008, 32, {3, 2, 0x01, 0x06}},
    {0x2009, 32, {0}},
    {0x200A, 1, {1}},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };
static unsigned next_command;

static void send_next_command(void) {
    if (next_command == COMMAND_COUNT) return;
    uint8_t count = commands[next_command].count, *packet = room(4u + count);
    packet[0] = H4_COMMAND;
    set16(packet + 1, commands[next_command].opcode);
    packet[3] = count;
    memcpy(packet + 4, commands[next_command].parameters, count);
    next_command++;
}

/* --- ATT ---------------------------------------------------------------------------------------*/

/* A place for an ATT PDU of `count` octets in a packet of its own. */
static uint8_t *att(size_t count) {
    uint8_t *packet = room(HEADERS + count);
    packet[0] = H4_ACL;
    set16(packet + 1, connection);
    set16(packet + 3, (unsigned)count + 4);
    set16(packet + 5, (unsigned)count);
    set16(packet + 7, 4);
    credits--;
    return packet + HEADERS;
}

static void refuse(uint8_t opcode, uint16_t handle, uint8_t error) {
    uint8_t *pdu = att(5);
    pdu[0] = 0x01;
    pdu[1] = opcode;
    set16(pdu + 2, handle);
    pdu[4] = error;
}

static void on_read(uint16_t handle) {
    uint8_t counter[4];
    set16(counter, written);
    set16(counter + 2, written >> 16);
    const uint8_t *from = handle == COUNTER ? counter : value;
    unsigned length = handle == READ20 ? 20 : handle == COUNTER ? 4 : 244;
    if (handle != READ20 && handle != READ244 && handle != COUNTER) {
        refuse(0x0A, handle, INVALID_HANDLE);
        return;
    }
    if (length > mtu - 1) length = mtu - 1;
    uint8_t *pdu = att(1 + length);
    pdu[0] = 0x0B;
    memcpy(pdu + 1, from, length);
}

/* Read By Type of characteristic declarations: as many of the five as fit. */
static void on_discovery(uint16_t start) {
    static const uint8_t base[12] = {
        0xAB, 0x89, 0x67, 0x45, 0x23, 0x01, 0x3F, 0x9E, 0x1D, 0x4C, 0x2B, 0x8A};
    static const struct { uint8_t value_handle, properties, number; } characteristics[] = {
        {READ20, 0x02, 1}, {READ244, 0x02, 2}, {WRITE, 0x0C, 3}, {NOTIFY, 0x10, 4},
        {COUNTER, 0x02, 7}};
    uint8_t entries[5 * 21];
    unsigned count = 0;
    for (unsigned index = 0; index < 5 && 2 + 21 * (count + 1) <= mtu; index++) {
        if (characteristics[index].value_handle - 1 < start) continue;
        uint8_t *entry = entries + 21 * count++;
        set16(entry, characteristics[index].value_handle - 1u);
        entry[2] = characteristics[index].properties;
        set16(entry + 3, characteristics[index].value_handle);
        memcpy(entry + 5, base, sizeof base);
        memcpy(entry + 17, (const uint8_t[]){characteristics[index].number, 0, 0x2A, 0x5D}, 4);
    }
    if (count == 0) {
        refuse(0x08, start, NOT_FOUND);
        return;
    }
    uint8_t *pdu = att(2 + 21 * count);
    pdu[0] = 0x09;
    pdu[1] = 21;
    memcpy(pdu + 2, entries, 21 * count);
}

static void on_att(const uint8_t *pdu) {
    uint16_t handle = get16(pdu + 1);
    switch (pdu[0]) {
    case 0x02:
        mtu = handle < MTU_OWN ? handle : MTU_OWN;
        memcpy(att(3), (const uint8_t[]){0x03, MTU_OWN & 0xFF, MTU_OWN >> 8}, 3);
        break;
    case 0x04:
        if (handle == CCCD) memcpy(att(6), (const uint8_t[]){0x05, 1, CCCD, 0, 0x02, 0x29}, 6);
        else refuse(0x04, handle, NOT_FOUND);
        break;
    case 0x08: on_discovery(handle); break;
    case 0x0A: on_read(handle); break;
    case 0x12:
        if (handle == CCCD) subscribed = pdu[3] & 1;
        *att(1) = 0x13;
        break;
    case 0x52: written++; break;
    default: refuse(pdu[0], handle, NOT_SUPPORTED);
    }
}

/* As many notifications as the controller has room for. */
static void notify(void) {
    while (subscribed && credits > 0) {
        unsigned length = mtu - 3 < sizeof value ? mtu - 3 : (unsigned)sizeof value;
        uint8_t *pdu = att(3 + length);
        pdu[0] = 0x1B;
        set16(pdu + 1, NOTIFY);
        memcpy(pdu + 3, value, length);
    }
}

/* --- HCI ---------------------------------------------------------------------------------------*/

static void on_event(const uint8_t *event) {
    const uint8_t *parameters = event + 2;
    switch (event[0]) {
    case 0x0E: send_next_command(); break;
    case 0x13: credits += get16(parameters + 3); break;
    case 0x3E:
        if (parameters[0] != 0x01) break;
        connection = get16(parameters + 2);
        credits = CREDITS;
        mtu = MTU_DEFAULT;
        break;
    }
}

static size_t on_bytes(size_t count) {
    size_t used = 0;
    while (count - used >= 3) {
        const uint8_t *packet = incoming + used;
        size_t left = count - used, header = packet[0] == H4_ACL ? 5 : 3;
        if (left < header) break;
        size_t length = header + (packet[0] == H4_ACL ? get16(packet + 3) : packet[2]);
        if (left < length) break;
        if (packet[0] == H4_ACL) on_att(packet + HEADERS);
        else on_event(packet + 1);
        used += length;
    }
    notify();
    return used;
}

int main(int count, char **words) {
    if (count != 2) return 2;
    struct sockaddr_in address = {
        AF_INET, htons((uint16_t)atoi(words[1])), {htonl(INADDR_LOOPBACK)}, {0}};
    int on = 1;
    link_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(link_fd, (struct sockaddr *)&address, sizeof address) != 0) return 3;
    setsockopt(link_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    fcntl(link_fd, F_SETFL, O_NONBLOCK);
    int poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {EPOLLIN, {0}};
    epoll_ctl(poller, EPOLL_CTL_ADD, link_fd, &event);
    for (size_t index = 0; index < sizeof value; index++) value[index] = (uint8_t)index;
    send_next_command();
    for (;;) {
        flush();
        epoll_wait(poller, &event, 1, -1);
        ssize_t got = read(link_fd, incoming + incoming_count, sizeof incoming - incoming_count);
        if (got == 0) return 0;
        if (got < 0) continue;
        incoming_count += (size_t)got;
        size_t used = on_bytes(incoming_count);
        incoming_count -= used;
        memmove(incoming, incoming + used, incoming_count);
    }
}
