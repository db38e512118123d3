/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "fetch.h"

#include "models.h"
#include "tell.h"

#include <signal.h>
#include <string.h>

#define INSTALLED "tdl-fetch-models"
#define OF_SOURCES "pipelines/fetch-models.sh"

struct fetching {
    GtkWidget *dialog; /* NULL: it was closed */
    char *program;     /* NULL: there is none */
    char *name;
    GSubprocess *process; /* NULL: none runs */
    fetch_done_fn done;
    gpointer user;
};

static void fetching_free(struct fetching *f)
{
    g_free(f->program);
    g_free(f->name);
    g_free(f);
}

/* The script beside the folder of models in the source tree, if that is still there. */
static char *script_of_sources(void)
{
    g_autofree char *root = g_path_get_dirname(TDL_MODELS_DIR);
    g_autofree char *path = g_build_filename(root, OF_SOURCES, NULL);

    return g_file_test(path, G_FILE_TEST_IS_EXECUTABLE) ? g_steal_pointer(&path) : NULL;
}

static void say(struct fetching *f, const char *text, bool may_fetch)
{
    gtk_message_dialog_format_secondary_text(GTK_MESSAGE_DIALOG(f->dialog), "%s", text);
    gtk_dialog_set_response_sensitive(GTK_DIALOG(f->dialog), GTK_RESPONSE_ACCEPT, may_fetch);
}

static void on_end(GObject *object, GAsyncResult *result, gpointer data)
{
    struct fetching *f = data;
    g_autoptr(GError) error = NULL;
    g_autofree char *errors = NULL;
    const bool ran =
        g_subprocess_communicate_utf8_finish(f->process, result, NULL, &errors, &error);
    const bool ok = ran && g_subprocess_get_successful(f->process);

    (void)object;
    g_clear_object(&f->process);
    if (!f->dialog) {
        fetching_free(f);
        return;
    }
    tell("fetch", "%s", ok ? "done" : "failed");
    if (!ok) {
        say(f, error ? error->message : g_strstrip(errors), true);
        return;
    }
    f->done(f->user);
    gtk_window_destroy(GTK_WINDOW(f->dialog));
}

static void fetch(struct fetching *f)
{
    const char *const line[] = {f->program, f->name, NULL};
    g_autoptr(GError) error = NULL;

    f->process = g_subprocess_newv(
        line, G_SUBPROCESS_FLAGS_STDOUT_SILENCE | G_SUBPROCESS_FLAGS_STDERR_PIPE, &error);
    if (!f->process) {
        say(f, error->message, true);
        return;
    }
    tell("fetch", "begun");
    say(f, "It is being fetched…", false);
    g_subprocess_communicate_utf8_async(f->process, NULL, NULL, on_end, f);
}

static void on_answer(GtkDialog *dialog, int answer, struct fetching *f)
{
    if (answer == GTK_RESPONSE_ACCEPT)
        fetch(f);
    else
        gtk_window_destroy(GTK_WINDOW(dialog));
}

/* Closing the dialog stops the download; what has come stays on disk. */
static void on_destroy(GtkWidget *dialog, struct fetching *f)
{
    (void)dialog;
    f->dialog = NULL;
    tell("fetch", "closed");
    if (f->process)
        g_subprocess_send_signal(f->process, SIGTERM);
    else
        fetching_free(f);
}

void fetch_offer(GtkWindow *parent, const char *name, fetch_done_fn done, gpointer user)
{
    struct fetching *f = g_new0(struct fetching, 1);
    g_autofree char *what = models_text(name, "what"), *licence = models_text(name, "licence");
    g_autofree char *text = NULL;

    f->program = g_find_program_in_path(INSTALLED);
    if (!f->program)
        f->program = script_of_sources();
    f->name = g_strdup(name);
    f->done = done;
    f->user = user;
    f->dialog = gtk_message_dialog_new(parent, GTK_DIALOG_MODAL | GTK_DIALOG_DESTROY_WITH_PARENT,
                                       GTK_MESSAGE_QUESTION, GTK_BUTTONS_NONE,
                                       "Fetch the model “%s”?", name);
    gtk_dialog_add_button(GTK_DIALOG(f->dialog), "Cancel", GTK_RESPONSE_CANCEL);
    gtk_dialog_add_button(GTK_DIALOG(f->dialog), "Fetch", GTK_RESPONSE_ACCEPT);
    gtk_dialog_set_default_response(GTK_DIALOG(f->dialog), GTK_RESPONSE_ACCEPT);
    text = g_strdup_printf("%s. Licence: %s. The command is:\n\n%s %s", what, licence,
                           f->program ? f->program : INSTALLED, name);
    say(f, text, f->program != NULL);
    g_signal_connect(f->dialog, "response", G_CALLBACK(on_answer), f);
    g_signal_connect(f->dialog, "destroy", G_CALLBACK(on_destroy), f);
    gtk_window_present(GTK_WINDOW(f->dialog));
    tell("fetch", "offered");
}
