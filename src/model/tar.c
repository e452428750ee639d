#include "model/tar.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Offsets of the fields of a ustar header. */
enum {
    NAME = 0,
    MODE = 100,
    OWNER = 108,
    GROUP = 116,
    SIZE = 124,
    MTIME = 136,
    CHECKSUM = 148,
    TYPE = 156,
    MAGIC = 257,
    VERSION = 263,
    USER = 265,
    GROUP_NAME = 297,
    PREFIX = 345
};

/* Sum of all bytes, those of the checksum itself taken as blanks. */
static unsigned checksum(const unsigned char *block) {
    unsigned sum = 0;
    for (int i = 0; i < LC_TAR_BLOCK; i++)
        sum += i >= CHECKSUM && i < CHECKSUM + 8 ? ' ' : block[i];
    return sum;
}

static void put_octal(unsigned char *field, int digits, uint64_t value) {
    for (int i = digits - 1; i >= 0; i--, value >>= 3)
        field[i] = (unsigned char)('0' + (value & 7));
    field[digits] = '\0';
}

static void put_text(unsigned char *field, const char *text) {
    for (; *text != '\0'; text++)
        *field++ = (unsigned char)*text;
}

void lc_tar_header(unsigned char block[LC_TAR_BLOCK], const char *name, uint64_t bytes) {
    memset(block, 0, LC_TAR_BLOCK);
    size_t length = strnlen(name, LC_TAR_NAME_MAX);
    memcpy(block + NAME, name, length);
    put_octal(block + MODE, 7, 0600);
    put_octal(block + OWNER, 7, 0);
    put_octal(block + GROUP, 7, 0);
    put_octal(block + SIZE, 11, bytes);
    put_octal(block + MTIME, 11, (uint64_t)time(NULL));
    block[TYPE] = '0';
    /* NUL ends them: the block is zero. */
    put_text(block + MAGIC, "ustar");
    put_text(block + VERSION, "00");
    put_text(block + USER, "nobody");
    put_text(block + GROUP_NAME, "users");
    put_octal(block + CHECKSUM, 6, checksum(block));
    block[CHECKSUM + 7] = ' ';
}

/* Digits up to a blank or NUL; false if there is anything else. */
static bool get_octal(const unsigned char *field, int width, uint64_t *value) {
    int i = 0;
    *value = 0;
    while (i < width && field[i] == ' ')
        i++;
    int begin = i;
    for (; i < width && field[i] >= '0' && field[i] <= '7'; i++)
        *value = *value * 8 + (unsigned)(field[i] - '0');
    return i > begin && (i == width || field[i] == ' ' || field[i] == '\0');
}

bool lc_tar_is_header(const unsigned char *block) {
    uint64_t sum;
    return memcmp(block + MAGIC, "ustar", 5) == 0 && get_octal(block + CHECKSUM, 8, &sum) &&
           sum == checksum(block);
}

bool lc_tar_is_file(const unsigned char *block) {
    return block[TYPE] == '0' || block[TYPE] == '\0';
}

enum lc_err lc_tar_parse(const unsigned char *block, struct lc_tar_member *member) {
    char name[LC_TAR_NAME_MAX + 1] = {0}, prefix[156] = {0};
    memcpy(name, block + NAME, LC_TAR_NAME_MAX);
    memcpy(prefix, block + PREFIX, 155);
    const char *plain = strncmp(name, "./", 2) == 0 ? name + 2 : name;
    snprintf(member->name, sizeof member->name, "%s%s%s", prefix, prefix[0] != '\0' ? "/" : "",
             plain);
    if (!get_octal(block + SIZE, 12, &member->bytes))
        return lc_fail(LC_ERR_FORMAT, "member %.60s: its size is not an octal number",
                       member->name);
    return LC_OK;
}
