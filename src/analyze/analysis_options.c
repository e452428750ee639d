#include "analyze/analysis_options.h"

#include <stdlib.h>
#include <string.h>

static const char *value_of(const char *word, const char *key) {
    size_t n = strlen(key);
    return strncmp(word, key, n) == 0 && word[n] == '=' ? word + n + 1 : NULL;
}

enum lc_err lc_analyze_options_parse(struct lc_analyze_options *options, int argc, char **argv) {
    *options = (struct lc_analyze_options){0};
    for (int i = 1; i < argc; i++) {
        const char *value;
        if ((value = value_of(argv[i], "archive")) != NULL)
            options->archive = value;
        else if ((value = value_of(argv[i], "output")) != NULL)
            options->output = value;
        else if ((value = value_of(argv[i], "timeline")) != NULL)
            options->timeline = value;
        else if ((value = value_of(argv[i], "page")) != NULL)
            options->page = value;
        else if ((value = value_of(argv[i], "windows")) != NULL)
            options->windows = value;
        else if ((value = value_of(argv[i], "most-bytes")) != NULL)
            options->most_bytes = strtoull(value, NULL, 10);
        else if ((value = value_of(argv[i], "partition")) != NULL)
            options->partition = value;
        else if ((value = value_of(argv[i], "what-if")) != NULL)
            options->what_if = value;
        else if ((value = value_of(argv[i], "status")) != NULL)
            options->status = value;
        else if ((value = value_of(argv[i], "quiet")) != NULL)
            options->quiet = *value == '1';
        else if ((value = value_of(argv[i], "progress")) != NULL)
            options->progress = *value == '1';
        else if ((value = value_of(argv[i], "mpi-only")) != NULL)
            options->mpi_only = *value == '1';
        else if ((value = value_of(argv[i], "time-correct")) != NULL)
            options->time_correct = strcmp(value, "on") == 0     ? LC_TIME_CORRECT_ON
                                    : strcmp(value, "auto") == 0 ? LC_TIME_CORRECT_AUTO
                                                                 : LC_TIME_CORRECT_OFF;
        else
            return lc_fail(LC_ERR_USAGE,
                           "%s: unknown: this program is started by `latecomer "
                           "analyze`",
                           argv[i]);
    }
    if (!options->archive || !(options->output || options->timeline || options->page))
        return lc_fail(LC_ERR_USAGE, "archive and output are missing: this program is started by "
                                     "`latecomer analyze`");
    return LC_OK;
}
