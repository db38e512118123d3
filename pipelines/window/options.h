/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Options of the command line. */
#ifndef WINDOW_OPTIONS_H
#define WINDOW_OPTIONS_H

#include <stdbool.h>

struct options {
    const char *mode;     /* NULL: as it was left */
    const char *settings; /* the file, NULL: in the user's folder */
    const char *source;   /* a file or URI, NULL: as it was left */
    bool tell;            /* print what changes on standard output */
};

/* Fills `out`; ends the process for --help and for what is no option. */
void options_read(int argc, char **argv, struct options *out);

#endif
