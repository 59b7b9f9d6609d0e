/* A hand-written loop on the C driver, to compare docshape with; see peers.md.
 *
 *   cc -O2 -pthread benches/peers.c $(pkg-config --cflags --libs libmongoc-1.0) -o peers     (version 2: mongoc2)
 *   ./peers URI DATABASE SHARE_OF_INSERTS CALLS CLIENTS
 *
 * Makes the calls of points.yaml on a collection that `docshape run --keep` left, with a thread per client, and prints the
 * same line of JSON as scripts/experiments/pymongo_loop.py. */
#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { POINTS = 10000, WARM_UP_IDS = 1500000000, IDS = 1800000000 };

static mongoc_client_pool_t *pool;
static const char *database;
static bson_t template_point;
static double inserts;
static int clients, first, calls;
static pthread_barrier_t barrier;

static void fail(const char *what, const bson_error_t *error) {
    fprintf(stderr, "peers: %s: %s\n", what, error->message);
    exit(1);
}

static void read_point(mongoc_collection_t *points, const bson_t *limit, int id) {
    bson_t filter = BSON_INITIALIZER;
    const bson_t *found;
    bson_error_t error = {0};
    BSON_APPEND_INT32(&filter, "_id", id);
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(points, &filter, limit, NULL);
    if (!mongoc_cursor_next(cursor, &found)) {
        mongoc_cursor_error(cursor, &error);
        fail("read", &error);
    }
    mongoc_cursor_destroy(cursor);
    bson_destroy(&filter);
}

static void insert_point(mongoc_collection_t *points, int id) {
    bson_t point = BSON_INITIALIZER;
    bson_error_t error;
    BSON_APPEND_INT32(&point, "_id", id);
    bson_copy_to_excluding_noinit(&template_point, &point, "_id", NULL);
    if (!mongoc_collection_insert_one(points, &point, NULL, NULL, &error)) fail("insert", &error);
    bson_destroy(&point);
}

static void *work(void *argument) {
    int number = (int)(intptr_t)argument;
    unsigned seed = (unsigned)(first + number);
    mongoc_client_t *client = mongoc_client_pool_pop(pool);
    mongoc_collection_t *points = mongoc_client_get_collection(client, database, "points");
    bson_t limit = BSON_INITIALIZER;
    BSON_APPEND_INT64(&limit, "limit", 1);
    BSON_APPEND_BOOL(&limit, "singleBatch", true);
    pthread_barrier_wait(&barrier);
    for (int call = number; call < calls; call += clients) {
        if (rand_r(&seed) < inserts * ((double)RAND_MAX + 1))
            insert_point(points, first + call);
        else
            read_point(points, &limit, rand_r(&seed) % POINTS);
    }
    pthread_barrier_wait(&barrier);
    bson_destroy(&limit);
    mongoc_collection_destroy(points);
    mongoc_client_pool_push(pool, client);
    return NULL;
}

static double wall(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void window(int begin, int length, double *seconds, double *used) {
    pthread_t *threads = calloc((size_t)clients, sizeof *threads);
    first = begin;
    calls = length;
    for (int number = 0; number < clients; number++)
        if (pthread_create(&threads[number], NULL, work, (void *)(intptr_t)number) != 0) exit(1);
    *seconds = -wall();
    *used = -cpu();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    *seconds += wall();
    *used += cpu();
    for (int number = 0; number < clients; number++) pthread_join(threads[number], NULL);
    free(threads);
}

int main(int count, char **arguments) {
    double seconds, used;
    bson_error_t error = {0};
    if (count != 6) {
        fprintf(stderr, "usage: peers URI DATABASE SHARE_OF_INSERTS CALLS CLIENTS\n");
        return 2;
    }
    database = arguments[2];
    inserts = atof(arguments[3]);
    int length = atoi(arguments[4]);
    clients = atoi(arguments[5]);
    mongoc_init();
    mongoc_uri_t *uri = mongoc_uri_new_with_error(arguments[1], &error);
    if (uri == NULL) fail("URI", &error);
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_RETRYREADS, false);
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_RETRYWRITES, false);
    pool = mongoc_client_pool_new(uri);
    mongoc_client_pool_max_size(pool, (uint32_t)clients);
    pthread_barrier_init(&barrier, NULL, (unsigned)clients + 1);

    mongoc_client_t *client = mongoc_client_pool_pop(pool);
    mongoc_collection_t *points = mongoc_client_get_collection(client, database, "points");
    bson_t all = BSON_INITIALIZER;
    const bson_t *found;
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(points, &all, NULL, NULL);
    if (!mongoc_cursor_next(cursor, &found)) fail("no points in the database", &error);
    bson_copy_to(found, &template_point);
    mongoc_cursor_destroy(cursor);
    mongoc_collection_destroy(points);
    mongoc_client_pool_push(pool, client);

    window(WARM_UP_IDS, length / 3, &seconds, &used);
    window(IDS, length, &seconds, &used);
    printf("{\"calls\": %d, \"seconds\": %f, \"cpu\": %f}\n", length, seconds, used);
    bson_destroy(&template_point);
    mongoc_client_pool_destroy(pool);
    mongoc_uri_destroy(uri);
    mongoc_cleanup();
    return 0;
}
