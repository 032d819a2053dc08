/* libxslt as a program that is told on standard input what to transform, and how often: the same conversation as that
 * of the engine's program (engine/src/main.rs). README.md has the commands.
 *
 * What can be done once is: stylesheets are compiled once; a parser context is kept for each of them, with the
 * dictionary of the stylesheet, so that names are compared by their addresses; parameters are quoted once. */

#include <libxml/parser.h>
#include <libxml/xmlversion.h>
#include <libxslt/transform.h>
#include <libxslt/xsltInternals.h>
#include <libxslt/xsltutils.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_JOBS = 64, MAX_PARAMETERS = 16 };

struct job {
    xsltStylesheetPtr stylesheet;
    xmlParserCtxtPtr parser;
    const char *parameters[2 * MAX_PARAMETERS + 1];
    char *input;
    int input_length;
};

static struct job jobs[MAX_JOBS];
static int job_count;

static void die(const char *why) {
    fprintf(stderr, "libxslt: %s\n", why);
    exit(1);
}

static char *take(size_t length) {
    char *bytes = malloc(length + 1);
    if (bytes == NULL || fread(bytes, 1, length, stdin) != length) die("the input ended early");
    bytes[length] = '\0';
    return bytes;
}

/* Lines of name=value, as names and XPath literals. */
static void set_parameters(struct job *job, char *text) {
    int count = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *value = strchr(line, '=');
        if (value == NULL || strchr(value, '\'') != NULL || count == MAX_PARAMETERS) die("a parameter is wrong");
        *value++ = '\0';
        size_t size = strlen(value) + 3;
        char *literal = malloc(size);
        if (literal == NULL) die("out of memory");
        snprintf(literal, size, "'%s'", value);
        job->parameters[2 * count] = line;
        job->parameters[2 * count + 1] = literal;
        count++;
    }
    job->parameters[2 * count] = NULL;
}

static void add_job(size_t stylesheet_length, size_t parameters_length, size_t input_length) {
    if (job_count == MAX_JOBS) die("too many jobs");
    struct job *job = &jobs[job_count];
    char *stylesheet = take(stylesheet_length);
    xmlDocPtr document =
        xmlReadMemory(stylesheet, (int)stylesheet_length, NULL, NULL, XML_PARSE_NONET | XML_PARSE_NOCDATA);
    if (document == NULL || (job->stylesheet = xsltParseStylesheetDoc(document)) == NULL) {
        die("the stylesheet does not compile");
    }
    free(stylesheet);
    set_parameters(job, take(parameters_length));
    job->input = take(input_length);
    job->input_length = (int)input_length;

    job->parser = xmlNewParserCtxt();
    if (job->parser == NULL) die("out of memory");
    xmlDictFree(job->parser->dict);
    job->parser->dict = job->stylesheet->dict;
    xmlDictReference(job->parser->dict);
    job_count++;
}

/* From the bytes of the message to the bytes of the result. */
static int transform(struct job *job, xmlChar **output) {
    xmlDocPtr source = xmlCtxtReadMemory(job->parser, job->input, job->input_length, NULL, NULL,
                                         XML_PARSE_NONET | XML_PARSE_NOCDATA | XML_PARSE_COMPACT);
    if (source == NULL) die("the message is not well-formed");
    xmlDocPtr result = xsltApplyStylesheet(job->stylesheet, source, job->parameters);
    if (result == NULL) die("the transformation failed");
    int length = 0;
    if (xsltSaveResultToString(output, &length, result, job->stylesheet) != 0) die("the result cannot be written");
    xmlFreeDoc(result);
    xmlFreeDoc(source);
    return length;
}

static struct job *find(int number) {
    if (number < 0 || number >= job_count) die("no such job");
    return &jobs[number];
}

int main(void) {
    char line[256];
    xmlInitParser();
    while (fgets(line, sizeof line, stdin) != NULL) {
        size_t stylesheet, parameters, input;
        int number, count, length = 0;
        xmlChar *output = NULL;
        if (strcmp(line, "about\n") == 0) {
            printf("ok libxslt %s, libxml2 %s\n", LIBXSLT_DOTTED_VERSION, LIBXML_DOTTED_VERSION);
        } else if (sscanf(line, "job %zu %zu %zu", &stylesheet, &parameters, &input) == 3) {
            add_job(stylesheet, parameters, input);
            printf("ok %d\n", job_count - 1);
        } else if (sscanf(line, "run %d %d", &number, &count) == 2) {
            struct job *job = find(number);
            for (int n = 0; n < count; n++) {
                length = transform(job, &output);
                xmlFree(output);
            }
            printf("ok %d\n", length);
        } else if (sscanf(line, "show %d", &number) == 1) {
            length = transform(find(number), &output);
            printf("ok %d\n", length);
            fwrite(output, 1, (size_t)length, stdout);
            xmlFree(output);
        } else {
            die("no such command");
        }
        fflush(stdout);
    }
    return 0;
}
