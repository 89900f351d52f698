/* A driver library for tests: the part of NVML that strata-diag asks for, answering from the file that FAKE_NVML names.
 *
 * The unchanged package nvidia-ml-py opens libnvidia-ml.so.1 by its name alone, so a folder with this library in
 * LD_LIBRARY_PATH is a machine with these cards. The file is read anew by every nvmlInit; one statement a line:
 *
 *   driver  <version>
 *   card    <total MiB> <free MiB> <compute mode> <major> <minor> <name>     numbered in order
 *   mig     <card> <total MiB> <free MiB> <id>                               an instance; the card is then partitioned
 *   nomig   <card>                                                           partitioned, and without an instance
 *   process <card> compute|graphics <pid> <MiB, or - for "not available"> <path>
 *   answer  <function> <code> [card]                                         the function returns this code
 *   hang    <function> [card]                                                the function never returns
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7 };
enum { MOST = 16, TEXT = 256, ALL_CARDS = -1 };
static const unsigned long long MIB = 1024 * 1024, NOT_AVAILABLE = ~0ull;

typedef struct {
    int card, instance; /* instance: -1 for a whole card */
    unsigned long long total, free;
    int mode, major, minor, partitioned;
    char name[TEXT];
} Device;
typedef struct {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
} ProcessInfo;
typedef struct {
    int card, compute;
    ProcessInfo info;
    char path[TEXT];
} Process;
typedef struct {
    char function[TEXT];
    int code, card, hangs;
} Answer;
typedef struct {
    unsigned long long total, free, used;
} Memory;

static Device cards[MOST], instances[MOST];
static Process processes[MOST];
static Answer answers[MOST];
static int card_count, instance_count, process_count, answer_count, initialized;
static char driver[TEXT];

static void read_line(const char *line) {
    char word[TEXT], size[TEXT];
    Device *card = &cards[card_count], *part = &instances[instance_count];
    Process *process = &processes[process_count];
    Answer *answer = &answers[answer_count];
    int number;
    sscanf(line, "driver %255s", driver);
    if (sscanf(line, "card %llu %llu %d %d %d %255[^\n]", &card->total, &card->free, &card->mode, &card->major,
               &card->minor, card->name) == 6) {
        card->card = card_count++;
        card->instance = -1;
    }
    if (sscanf(line, "mig %d %llu %llu %255s", &part->card, &part->total, &part->free, part->name) == 4) {
        part->instance = instance_count++;
        cards[part->card].partitioned = 1;
    }
    if (sscanf(line, "nomig %d", &number) == 1) cards[number].partitioned = 1;
    if (sscanf(line, "process %d %255s %u %255s %255[^\n]", &process->card, word, &process->info.pid, size,
               process->path) == 5) {
        process->compute = strcmp(word, "compute") == 0;
        process->info.used = strcmp(size, "-") == 0 ? NOT_AVAILABLE : strtoull(size, NULL, 10) * MIB;
        process_count++;
    }
    answer->card = ALL_CARDS;
    answer->hangs = 0;
    if (sscanf(line, "answer %255s %d %d", answer->function, &answer->code, &answer->card) >= 2) {
        answer_count++;
    } else if (sscanf(line, "hang %255s %d", answer->function, &answer->card) >= 1) {
        answer->hangs = 1;
        answer_count++;
    }
}

static void read_machine(void) {
    char line[1024];
    FILE *file = fopen(getenv("FAKE_NVML") ? getenv("FAKE_NVML") : "", "r");
    card_count = instance_count = process_count = answer_count = 0;
    memset(cards, 0, sizeof cards);
    driver[0] = '\0';
    while (file && fgets(line, sizeof line, file)) read_line(line);
    if (file) fclose(file);
}

static int said(const char *function, int card) {
    for (int place = 0; place < answer_count; place++) {
        Answer *answer = &answers[place];
        if (strcmp(answer->function, function) != 0 || (answer->card != ALL_CARDS && answer->card != card)) continue;
        while (answer->hangs) sleep(3600);
        return answer->code;
    }
    return initialized ? SUCCESS : UNINITIALIZED;
}

#define ANSWER(card)                            \
    do {                                        \
        int code_ = said(__func__, card);       \
        if (code_ != SUCCESS) return code_;     \
    } while (0)

static int put(char *target, unsigned length, const char *text) {
    if (strlen(text) + 1 > length) return INSUFFICIENT_SIZE;
    strcpy(target, text);
    return SUCCESS;
}

int nvmlInitWithFlags(unsigned flags) {
    (void)flags;
    read_machine();
    initialized++;
    int code = said(__func__, ALL_CARDS);
    if (code != SUCCESS) initialized--;
    return code;
}
int nvmlShutdown(void) {
    ANSWER(ALL_CARDS);
    initialized--;
    return SUCCESS;
}
const char *nvmlErrorString(int code) { return code == 999 ? "Unknown Error" : "an error of the test's library"; }
int nvmlSystemGetDriverVersion(char *version, unsigned length) {
    ANSWER(ALL_CARDS);
    return put(version, length, driver);
}
int nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length) {
    ANSWER(ALL_CARDS);
    for (int place = 0; place < process_count; place++)
        if (processes[place].info.pid == pid) return put(name, length, processes[place].path);
    return NOT_FOUND;
}
int nvmlDeviceGetCount_v2(unsigned *count) {
    ANSWER(ALL_CARDS);
    *count = (unsigned)card_count;
    return SUCCESS;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned number, Device **device) {
    ANSWER((int)number);
    if ((int)number >= card_count) return INVALID_ARGUMENT;
    *device = &cards[number];
    return SUCCESS;
}
int nvmlDeviceGetName(Device *device, char *name, unsigned length) {
    ANSWER(device->card);
    return put(name, length, device->name);
}
int nvmlDeviceGetUUID(Device *device, char *id, unsigned length) {
    ANSWER(device->card);
    return put(id, length, device->name);
}
int nvmlDeviceGetComputeMode(Device *device, int *mode) {
    ANSWER(device->card);
    *mode = device->mode;
    return SUCCESS;
}
int nvmlDeviceGetCudaComputeCapability(Device *device, int *major, int *minor) {
    ANSWER(device->card);
    *major = device->major;
    *minor = device->minor;
    return SUCCESS;
}
int nvmlDeviceGetMemoryInfo(Device *device, Memory *memory) {
    ANSWER(device->card);
    memory->total = device->total * MIB;
    memory->free = device->free * MIB;
    memory->used = memory->total - memory->free;
    return SUCCESS;
}
int nvmlDeviceGetMigMode(Device *device, unsigned *current, unsigned *pending) {
    ANSWER(device->card);
    if (device->major < 8) return NOT_SUPPORTED;
    *current = *pending = (unsigned)device->partitioned;
    return SUCCESS;
}
int nvmlDeviceGetMaxMigDeviceCount(Device *device, unsigned *count) {
    ANSWER(device->card);
    *count = 7;
    return SUCCESS;
}
int nvmlDeviceGetMigDeviceHandleByIndex(Device *device, unsigned number, Device **part) {
    ANSWER(device->card);
    for (int place = 0; place < instance_count; place++)
        if (instances[place].card == device->card && number-- == 0) {
            *part = &instances[place];
            return SUCCESS;
        }
    return NOT_FOUND;
}

static int list(Device *device, unsigned *count, ProcessInfo *infos, int compute) {
    unsigned found = 0;
    for (int place = 0; place < process_count; place++) {
        if (processes[place].card != device->card || processes[place].compute != compute) continue;
        if (infos && found < *count) infos[found] = processes[place].info;
        found++;
    }
    int fits = found == 0 || (infos && found <= *count);
    *count = found;
    return fits ? SUCCESS : INSUFFICIENT_SIZE;
}
int nvmlDeviceGetComputeRunningProcesses_v3(Device *device, unsigned *count, ProcessInfo *infos) {
    ANSWER(device->card);
    return list(device, count, infos, 1);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(Device *device, unsigned *count, ProcessInfo *infos) {
    ANSWER(device->card);
    return list(device, count, infos, 0);
}
