#include "harness.cuh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

/* ---- Timing ---------------------------------------------------------------------------------- */

constexpr int batch = 16; /* launches queued behind one hold */

/* About a millisecond: longer than the host takes to queue a batch. */
constexpr long long hold_cycles = 2000000;

static __global__ void hold_stream(long long cycles)
{
    long long start = clock64();
    while (clock64() - start < cycles) {
    }
}

static double seconds_now()
{
    using clock = std::chrono::steady_clock;
    return std::chrono::duration<double>(clock::now().time_since_epoch()).count();
}

static double median(std::vector<double> *values)
{
    auto middle = values->begin() + (std::ptrdiff_t)(values->size() / 2);
    std::nth_element(values->begin(), middle, values->end());
    return *middle;
}

/* A pair of events for each launch of a batch. */
struct event_pairs {
    cudaEvent_t start[batch], stop[batch];
};

static bool make_pairs(event_pairs *pairs)
{
    for (int i = 0; i < batch; ++i) {
        PEERS_CUDA(cudaEventCreate(&pairs->start[i]));
        PEERS_CUDA(cudaEventCreate(&pairs->stop[i]));
    }
    return true;
}

static void free_pairs(event_pairs *pairs)
{
    for (int i = 0; i < batch; ++i) {
        cudaEventDestroy(pairs->start[i]);
        cudaEventDestroy(pairs->stop[i]);
    }
}

static bool time_batch(const peers_work &work, int sets, int *next_set, const event_pairs &pairs,
                       cudaStream_t stream, std::vector<double> *microseconds)
{
    hold_stream<<<1, 1, 0, stream>>>(hold_cycles);
    for (int i = 0; i < batch; ++i) {
        PEERS_CUDA(cudaEventRecord(pairs.start[i], stream));
        if (!work.launch(work.state, *next_set, stream))
            return false;
        PEERS_CUDA(cudaEventRecord(pairs.stop[i], stream));
        *next_set = (*next_set + 1) % sets;
    }
    PEERS_CUDA(cudaStreamSynchronize(stream));
    for (int i = 0; i < batch; ++i) {
        float milliseconds;
        PEERS_CUDA(cudaEventElapsedTime(&milliseconds, pairs.start[i], pairs.stop[i]));
        microseconds->push_back(1e3 * (double)milliseconds);
    }
    return true;
}

bool peers_time_events(const peers_work &work, int sets, double seconds, cudaStream_t stream,
                       double *microseconds)
{
    event_pairs pairs = {};
    std::vector<double> times;
    int next_set = 0;
    bool good = make_pairs(&pairs) && time_batch(work, sets, &next_set, pairs, stream, &times);
    times.clear(); /* that was the warm-up */
    double end = seconds_now() + seconds;
    do {
        good = good && time_batch(work, sets, &next_set, pairs, stream, &times);
    } while (good && seconds_now() < end);
    free_pairs(&pairs);
    if (good)
        *microseconds = median(&times);
    return good;
}

/* NULL and true if the work cannot be captured. */
static bool capture(const peers_work &work, int sets, int launches, cudaStream_t stream,
                    cudaGraphExec_t *executable)
{
    *executable = nullptr;
    PEERS_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    bool queued = true;
    for (int i = 0; queued && i < launches; ++i)
        queued = work.launch(work.state, i % sets, stream);
    cudaGraph_t graph = nullptr;
    cudaError_t error = cudaStreamEndCapture(stream, &graph);
    if (queued && error == cudaSuccess)
        error = cudaGraphInstantiate(executable, graph, 0);
    if (!queued || error != cudaSuccess)
        *executable = nullptr;
    if (graph != nullptr)
        cudaGraphDestroy(graph);
    cudaGetLastError(); /* a refused capture is an answer, not a failure of what follows */
    return true;
}

static bool time_replay(cudaGraphExec_t executable, const event_pairs &pairs, cudaStream_t stream,
                        double *microseconds)
{
    float milliseconds;
    PEERS_CUDA(cudaEventRecord(pairs.start[0], stream));
    PEERS_CUDA(cudaGraphLaunch(executable, stream));
    PEERS_CUDA(cudaEventRecord(pairs.stop[0], stream));
    PEERS_CUDA(cudaStreamSynchronize(stream));
    PEERS_CUDA(cudaEventElapsedTime(&milliseconds, pairs.start[0], pairs.stop[0]));
    *microseconds = 1e3 * (double)milliseconds;
    return true;
}

/* Enough launches, in whole rounds of the sets, that starting the graph does not count. */
static int graph_launches(int sets, double near_microseconds)
{
    double rounds = 3000.0 / (near_microseconds * sets);
    return sets * (int)std::min(std::max(ceil(rounds), 1.0), 64.0);
}

bool peers_time_graph(const peers_work &work, int sets, double seconds, double near_microseconds,
                      cudaStream_t stream, double *microseconds)
{
    *microseconds = NAN;
    int launches = graph_launches(sets, near_microseconds);
    cudaGraphExec_t executable;
    if (!capture(work, sets, launches, stream, &executable))
        return false;
    if (executable == nullptr)
        return true;
    event_pairs pairs = {};
    std::vector<double> times;
    double time;
    bool good = make_pairs(&pairs) && time_replay(executable, pairs, stream, &time);
    double end = seconds_now() + seconds;
    while (good && (times.size() < 3 || seconds_now() < end)) {
        good = time_replay(executable, pairs, stream, &time);
        times.push_back(time / launches);
    }
    free_pairs(&pairs);
    cudaGraphExecDestroy(executable);
    if (good)
        *microseconds = median(&times);
    return good;
}

/* ---- The table ------------------------------------------------------------------------------- */

static const char *const group_names[] = {
    [PEERS_FLOORS] = "floors",
    [PEERS_GROUP_FLOAT] = "float",
    [PEERS_GROUP_SEPARABLE] = "separable",
    [PEERS_GROUP_CHAIN] = "chain",
    [PEERS_GROUP_8BIT] = "8-bit",
    [PEERS_GROUP_EDGES] = "edges",
};

/* What was found of an entry, by single launches and in a graph. */
struct measurement {
    double max_error;
    bool right;
    double events, graph; /* microseconds; graph is NAN if there is none */
};

/* The fastest copies of each pool so far, microseconds; NAN before there is one. */
struct copy_times {
    double events[PEERS_POOLS], graph[PEERS_POOLS];
};

static bool check(const peers_data &data, const peers_entry &entry, measurement *result)
{
    const peers_pool &pool = data.pools[entry.pool];
    PEERS_CUDA(cudaMemset(pool.output[0], 0xff, pool.pitch * (size_t)data.size));
    PEERS_CUDA(cudaDeviceSynchronize());
    if (!entry.work.launch(entry.work.state, 0, data.stream))
        return false;
    PEERS_CUDA(cudaStreamSynchronize(data.stream));
    if (!entry.verify(entry.work.state, &result->max_error))
        return false;
    result->right = result->max_error <= entry.tolerance;
    return true;
}

static bool measure(const peers_data &data, const peers_entry &entry, double seconds,
                    measurement *result)
{
    if (entry.prepare != nullptr && !entry.prepare(entry.work.state))
        return false;
    if (!check(data, entry, result))
        return false;
    if (!result->right)
        return true;
    int sets = data.pools[entry.pool].sets;
    return peers_time_events(entry.work, sets, seconds, data.stream, &result->events) &&
           peers_time_graph(entry.work, sets, seconds, result->events, data.stream, &result->graph);
}

static double gflops(const peers_data &data, const peers_entry &entry, double microseconds)
{
    double pixels = (double)data.size * (double)data.size;
    return 2e-3 * entry.filter_width * entry.filter_height * pixels / microseconds;
}

/* A number in its column, or a dash. */
static void print_number(int width, int decimals, double value)
{
    if (std::isfinite(value) && value != 0.0)
        printf(" %*.*f", width, decimals, value);
    else
        printf(" %*s", width, "-");
}

static void print_header()
{
    printf("\n%-9s %-42s %7s %10s %10s %9s %8s %10s\n", "group", "name", "filter", "us", "graph us",
           "GFLOP/s", "x copy", "max error");
}

static void print_row(const peers_data &data, const peers_entry &entry, const copy_times &copies,
                      const measurement &result)
{
    char filter[32] = "-";
    if (entry.filter_width > 0)
        snprintf(filter, sizeof filter, "%dx%d", entry.filter_width, entry.filter_height);
    printf("%-9s %-42s %7s", group_names[entry.group], entry.name, filter);
    if (!result.right) {
        printf(" WRONG: max error %.3g, allowed %.3g\n", result.max_error, entry.tolerance);
        return;
    }
    print_number(10, 2, result.events);
    print_number(10, 2, result.graph);
    print_number(9, 0, gflops(data, entry, result.events));
    print_number(8, 3, result.events / copies.events[entry.pool]);
    printf(" %10.3g\n", result.max_error);
    fflush(stdout);
}

static void write_number(FILE *csv, double value)
{
    if (std::isfinite(value) && value != 0.0)
        fprintf(csv, ",%.6g", value);
    else
        fputc(',', csv);
}

static void write_csv(FILE *csv, const peers_data &data, const peers_entry &entry,
                      const char *suffix, double microseconds, double copy, double max_error)
{
    fprintf(csv, "%s,%s%s,%d,%d", group_names[entry.group], entry.name, suffix, entry.filter_width,
            entry.filter_height);
    write_number(csv, microseconds);
    write_number(csv, gflops(data, entry, microseconds));
    write_number(csv, microseconds / copy);
    fprintf(csv, ",%.6g\n", max_error);
}

static void report(const peers_data &data, const peers_entry &entry, copy_times *copies,
                   const measurement &result, FILE *csv)
{
    if (entry.is_copy && result.right) {
        double *events = &copies->events[entry.pool], *graph = &copies->graph[entry.pool];
        *events = fmin(*events, result.events);
        *graph = fmin(*graph, result.graph);
    }
    print_row(data, entry, *copies, result);
    if (csv == nullptr)
        return;
    write_csv(csv, data, entry, "", result.events, copies->events[entry.pool], result.max_error);
    if (std::isfinite(result.graph))
        write_csv(csv, data, entry, " (graph)", result.graph, copies->graph[entry.pool],
                  result.max_error);
}

bool peers_run(const peers_data &data, const std::vector<peers_entry> &entries, double seconds,
               FILE *csv)
{
    copy_times copies = {{NAN, NAN, NAN}, {NAN, NAN, NAN}};
    bool good = true;
    if (csv != nullptr)
        fputs("group,name,filter_width,filter_height,microseconds,gflops,ratio_to_copy,max_error\n",
              csv);
    print_header();
    for (const peers_entry &entry : entries) {
        measurement result = {NAN, false, NAN, NAN};
        if (measure(data, entry, seconds, &result)) {
            report(data, entry, &copies, result, csv);
            good = good && result.right;
        } else {
            printf("%-9s %-42s failed: see the message\n", group_names[entry.group], entry.name);
            good = false;
        }
        if (entry.release != nullptr)
            entry.release(entry.work.state);
    }
    return good;
}
