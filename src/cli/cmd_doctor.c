/* latecomer doctor: what this machine and program allow. */
#include <stdio.h>

#include "base/log.h"
#include "cli/cmd.h"
#include "cli/options.h"
#include "run/doctor.h"

static error_t parse(int key, char *arg, struct argp_state *state) {
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    lc_cli_operand(state->input, arg, "doctor", "program");
    return 0;
}

static const struct argp argp = {
    NULL,
    parse,
    "[PROGRAM]",
    "Says what can be measured on this machine, and in PROGRAM: MPI, symbols, unwinding, clock, "
    "cores; what is missing, why it matters, and what to do. Exit code 1 if something prevents "
    "programs from being measured.",
    NULL,
    NULL,
    NULL};

int lc_cmd_doctor(int argc, char **argv) {
    static const char *const marks[] = {"ok", "note", "BAD"};
    const char *program = NULL;
    struct lc_checkup findings;
    int code = lc_cli_parse(&argp, 0, argc, argv, &program);
    if (code != LC_EXIT_OK)
        return code;
    if (lc_doctor_look(&findings, program) != LC_OK) {
        lc_complain("%s", lc_err_text());
        return LC_EXIT_ERROR;
    }
    for (size_t i = 0; i < findings.n_items; i++) {
        const struct lc_doctor_check *finding = &findings.items[i];
        printf("%-5s %-14s %s\n", marks[finding->verdict], finding->subject, finding->text);
        if (finding->verdict == LC_VERDICT_BAD)
            code = LC_EXIT_ERROR;
    }
    lc_checkup_free(&findings);
    return code;
}
