/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How videos are written: by the first of the encoders known here that is installed. */
#ifndef WINDOW_ENCODERS_H
#define WINDOW_ENCODERS_H

struct encoder {
    const char *elements[2]; /* GStreamer elements that it needs */
    const char *line;        /* launch line behind raw frames, up to the element "to" */
    const char *suffix;
};

/* NULL where there is none; then encoders_missing() says what to install. */
const struct encoder *encoders_find(void);
const char *encoders_missing(void);

#endif
