/* Runs a fuzz target without libFuzzer: N mutations of the given files, from a seed; a failure
 * names its seed. Usage: PROGRAM MUTATIONS SEED FILE.. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static uint64_t state;

static uint32_t random_below(uint32_t limit) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return limit == 0 ? 0 : (uint32_t)(state >> 33) % limit;
}

static uint8_t *load(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    *bytes = (size_t)ftell(file);
    uint8_t *data = malloc(*bytes + 1);
    rewind(file);
    if (data == NULL || fread(data, 1, *bytes, file) != *bytes) {
        perror(path);
        exit(1);
    }
    fclose(file);
    return data;
}

/* Bytes set, numbers exchanged for others, pieces moved, the end cut off; tar headers get a right
 * checksum again half of the time, so that what is behind them is reached. */
static void repair_header(uint8_t *data, size_t bytes, size_t at) {
    size_t block = at / 512 * 512;
    if (block + 512 > bytes || memcmp(data + block + 257, "ustar", 5) != 0)
        return;
    unsigned sum = 0;
    for (size_t i = 0; i < 512; i++)
        sum += i >= 148 && i < 156 ? ' ' : data[block + i];
    char text[8];
    snprintf(text, sizeof text, "%06o", sum);
    memcpy(data + block + 148, text, 7);
}

static size_t mutate(uint8_t *data, size_t bytes) {
    static const char *const words[] = {
        "0",         "-1",     "4294967295", "99999999999999999999", "<",
        ">",         "\"",     "&",          "\xff\xff\xff\xff",     "id=",
        "</metric>", "<cnode "};
    for (uint32_t times = 1 + random_below(8); times > 0; times--) {
        size_t at = random_below((uint32_t)bytes);
        const char *word = words[random_below(sizeof words / sizeof words[0])];
        size_t from = random_below((uint32_t)bytes), length = 1 + random_below(64);
        switch (random_below(5)) {
        case 0:
            data[at] = (uint8_t)random_below(256);
            break;
        case 1:
            data[at] ^= (uint8_t)(1u << random_below(8));
            break;
        case 2:
            if (at + strlen(word) <= bytes)
                memcpy(data + at, word, strlen(word));
            break;
        case 3:
            if (at + length <= bytes && from + length <= bytes)
                memmove(data + at, data + from, length);
            break;
        default: /* near the begin of a member: headers, markers, index */
            at = at / 512 * 512 + random_below(40) + (random_below(2) ? 120 : 0);
            if (at < bytes)
                data[at] = (uint8_t)('0' + random_below(8));
        }
        if (at < bytes && random_below(2) == 0)
            repair_header(data, bytes, at);
    }
    return random_below(10) == 0 ? random_below((uint32_t)bytes) : bytes;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: %s MUTATIONS SEED FILE..\n", argv[0]);
        return 2;
    }
    long mutations = strtol(argv[1], NULL, 10);
    uint64_t seed = strtoull(argv[2], NULL, 10);
    for (int f = 3; f < argc; f++) {
        size_t bytes;
        uint8_t *original = load(argv[f], &bytes), *data = malloc(bytes + 1);
        LLVMFuzzerTestOneInput(original, bytes);
        for (long i = 0; data != NULL && i < mutations; i++) {
            state = seed + (uint64_t)i * 7919;
            random_below(1);
            memcpy(data, original, bytes);
            size_t length = mutate(data, bytes);
            fprintf(stderr, "\r%s mutation %ld", argv[f], i);
            LLVMFuzzerTestOneInput(data, length);
        }
        free(data);
        free(original);
    }
    fprintf(stderr, "\n%ld mutations of %d files from seed %llu: no crash\n", mutations, argc - 3,
            (unsigned long long)seed);
    return 0;
}
