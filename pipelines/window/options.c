/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

static const char help[] =
    "Usage: tdl-demo [OPTION]... [FILE]\n"
    "\n"
    "Show in a window what tdlfilter makes of a camera, a video or a picture, with a\n"
    "control for each of its properties. FILE is a video or a picture, or the URI of\n"
    "one; without it the window opens with what it showed last, at first a portrait.\n"
    "\n"
    "  -m, --mode MODE            mask, overlay, blur, replace, alpha, passthrough,\n"
    "                             picture or classes; else the last one\n"
    "  -s, --settings FILE        keep settings there, not in the user's folder\n"
    "                             (~/.config/tdlfilter/demo.ini)\n"
    "      --status               print what changes, a line NAME=VALUE each, and\n"
    "                             where controls are\n"
    "  -h, --help                 show this\n"
    "\n"
    "In the window ? shows the keys.\n"
    "\n"
    "Example: tdl-demo --mode blur holiday.mp4\n";

void options_read(int argc, char **argv, struct options *out)
{
    static const struct option known[] = {
        {"mode", required_argument, NULL, 'm'},
        {"settings", required_argument, NULL, 's'},
        {"status", no_argument, NULL, 'S'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int key;

    while ((key = getopt_long(argc, argv, "m:s:h", known, NULL)) != -1) {
        switch (key) {
        case 'm':
            out->mode = optarg;
            break;
        case 's':
            out->settings = optarg;
            break;
        case 'S':
            out->tell = true;
            break;
        case 'h':
            fputs(help, stdout);
            exit(0);
        default:
            fputs(help, stderr);
            exit(2);
        }
    }
    if (argc - optind > 1) {
        fprintf(stderr, "tdl-demo: one file at most\n%s", help);
        exit(2);
    }
    out->source = argv[optind];
}
