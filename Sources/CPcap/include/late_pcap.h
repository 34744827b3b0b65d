#pragma once
#include <pcap/pcap.h>

/// The functions of libpcap that are used, as pcap(3PCAP) has them.
struct late_pcap {
    pcap_t *(*open_offline)(const char *path, u_int precision, char *error);
    int (*datalink)(pcap_t *capture);
    int (*next)(pcap_t *capture, struct pcap_pkthdr **header, const u_char **data);
    char *(*error)(pcap_t *capture);
    void (*close)(pcap_t *capture);
};

/// Loads libpcap when it is first asked for; NULL where it is not installed. Linked, it and the eight libraries that it
/// needs would be loaded at every start, and only captures are read with it. From any thread.
const struct late_pcap *late_pcap(void);
