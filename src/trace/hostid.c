/* The identifier of this host, as libotf2 asks for it at the end of each archive (to make the
 * archive's own identifier). Where there is no /etc/hostid, libc's gethostid looks the host's name
 * up in the network: seconds per archive where no name server answers. This function takes its
 * place in the program that writes archives, and asks nobody. */
#include <stdint.h>
#include <unistd.h>

__attribute__((visibility("default"))) long gethostid(void) {
    char name[256] = "";
    uint32_t hash = 0x811c9dc5u; /* FNV-1a */
    gethostname(name, sizeof name - 1);
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * 0x01000193u;
    return (long)(int32_t)hash;
}
