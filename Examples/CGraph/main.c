// Runs an audio graph over a sound file and prints what its nodes tell:
//
//     cc main.c $(pkg-config --cflags --libs duplexvoice) -o graph
//     ./graph commands.json commands.wav commands.jsgf
//
// The grammar is what a Recogniser node listens for, by pocketsphinx.
#include <duplexvoice.h>
#include <stdio.h>
#include <stdlib.h>

static void print_event(void *context, const dv_graph_event *event) {
    (void)context;
    printf("%s.%s", event->node, event->event);
    for (size_t i = 0; i < event->value_count; i++) {
        const dv_graph_value *value = &event->values[i];
        value->text ? printf("  %s '%s'", value->name, value->text) : printf("  %s %.2f", value->name, value->number);
    }
    printf("\n");
}

// Bytes of a description at most (docs/graph.md); a grammar is no longer either.
enum { LONGEST = 256 << 10 };

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, LONGEST + 2);
    if (file == NULL || text == NULL) return perror(path), exit(66), NULL;
    size_t length = fread(text, 1, LONGEST + 1, file);
    if (ferror(file)) return perror(path), exit(66), NULL;
    if (length > LONGEST) return fprintf(stderr, "graph: %s is longer than %d bytes\n", path, LONGEST), exit(66), NULL;
    fclose(file);
    return text;
}

int main(int count, char **arguments) {
    if (count < 3) return fprintf(stderr, "usage: graph GRAPH.json SOUND.wav [GRAMMAR.jsgf]\n"), 64;
    dv_graph_config config = {sizeof config};
    if (count > 3) config.grammar = read_text(arguments[3]);
    dv_graph graph;
    dv_error error;
    uint64_t frames = 0;
    dv_status status = dv_graph_create(read_text(arguments[1]), &config, &graph, &error);
    if (status == DV_OK) status = dv_graph_add_listener(graph, "*", "*", print_event, NULL, NULL, &error);
    if (status == DV_OK) status = dv_graph_run_file(graph, arguments[2], NULL, &frames, &error);
    if (status != DV_OK) return fprintf(stderr, "graph: %s\n", error.message), 1;
    printf("%llu frames\n", (unsigned long long)frames);
    return dv_graph_destroy(graph) == DV_OK ? 0 : 1;
}
