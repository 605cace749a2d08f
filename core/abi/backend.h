/* Defines the interface of a backend: devices, memory, queues and one submit().
 *
 * Threads: Any thread may call enumerate and open, one at a time. One thread at a time uses an open device and
 * everything created from it. Threads use different devices concurrently.
 * Lifetime: The program destroys events, queues and buffers before it closes their device, and closes devices before
 * shutdown(). It calls no function after shutdown(). The destroy functions accept NULL.
 */
#ifndef MOKUME_ABI_BACKEND_H
#define MOKUME_ABI_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "abi/op.h"
#include "abi/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mk_device mk_device;
typedef struct mk_queue mk_queue;
typedef struct mk_event mk_event;

typedef enum mk_device_kind { MK_DEVICE_CPU = 1, MK_DEVICE_GPU = 2, MK_DEVICE_OTHER = 3 } mk_device_kind;

typedef enum mk_device_flags {
  MK_DEVICE_FP64 = 1 << 0, /* kernels may use doubles */
  /* The device emulates a GPU on the CPU (llvmpipe). It is very slow, and the loops of a work-item silently stop after
   * 65,535 iterations in total, so kernels must stay below that. */
  MK_DEVICE_SOFTWARE = 1 << 1,
  MK_DEVICE_INSTRUMENTED = 1 << 2, /* a checker such as Oclgrind, for tiny sizes only */
  MK_DEVICE_TEMPLATE = 1 << 3,     /* computes nothing (null); "all" and "every" never select it */
  MK_DEVICE_FMA = 1 << 4, /* fma() is in hardware, so kernels round a product and its sum once instead of twice */
  /* The compiler also fuses products and sums that kernels keep apart (FP_CONTRACT OFF), so results may differ in their
   * last bits from those of other devices. */
  MK_DEVICE_FUSES = 1 << 5,
  MK_DEVICE_SHARED_MEMORY = 1 << 6 /* a GPU without its own memory; memory_bytes is a share of the host's */
} mk_device_flags;

typedef struct mk_device_info {
  uint32_t struct_size;
  int32_t kind;          /* an mk_device_kind */
  uint64_t flags;        /* mk_device_flags */
  uint64_t memory_bytes; /* device memory; for a CPU, the value that the driver reports */
  uint64_t max_buffer_bytes;
  uint32_t compute_units;
  uint32_t max_work_group; /* 0 if the device has no work-groups */
  uint64_t local_memory_bytes;
  char name[128];
  char platform[128]; /* e.g. "Portable Computing Language", "rusticl", "host" */
  char vendor[64];
  char version[128]; /* version of the platform or library that drives the device */
  char driver[64];
  char physical_id[64]; /* "pci:0000:3b:00.0" or "cpu:<cores>"; a physical device has the same id on all platforms */
  char isa[64];         /* instruction set or architecture if known, else "" */
} mk_device_info;

/* Holds a choice made by measurement. Key and value are short ASCII words. See mk_backend.choices. */
typedef struct mk_choice {
  char key[48];
  char value[80];
} mk_choice;

typedef enum mk_copy_kind { MK_COPY_WRITE = 1, MK_COPY_READ = 2, MK_COPY_DEVICE = 3 } mk_copy_kind;

/* WRITE copies from host memory to `to`, READ from `from` to host memory, and DEVICE from `from` to `to` (the ranges
 * must not overlap). Offsets and sizes are in bytes. Host memory must stay valid and untouched until the event of the
 * copy or finish() reports completion. */
typedef struct mk_copy {
  int32_t kind;
  int32_t reserved;
  mk_buffer* from;
  mk_buffer* to;
  void* host;
  uint64_t from_offset;
  uint64_t to_offset;
  uint64_t bytes;
} mk_copy;

#define MK_QUEUE_PROFILING 1u /* event_time_ns works on the events of this queue */

#define MK_SUPPORT_NO 0
#define MK_SUPPORT_YES 1
#define MK_SUPPORT_SLOW 2 /* works, but copying to the host and back may be faster */

typedef struct mk_backend {
  uint32_t struct_size; /* sizeof(mk_backend) */
  uint16_t abi_major;
  uint16_t abi_minor;
  void* self;

  /* Writes up to `capacity` infos, and the total number to `count`. Opens no device. The order is stable on one
   * machine. Logs devices that it finds but cannot use at level WARNING, with the cure. */
  int32_t (*enumerate)(void* self, mk_device_info* infos, uint32_t capacity, uint32_t* count, mk_error* error);

  /* Opens device `index` of enumerate. `choices` replace the backend's measurements and cache. Ignores unknown keys.
   * The choice "precision" is not measured: with "tf32" or "bf16", a device rounds the operands of gemm with may_round
   * and of convolutions that are not depthwise, and sums in fp32. A device that cannot do so computes in fp32, says why
   * in the log, and returns the choice "fp32". */
  int32_t (*open)(void* self, uint32_t index, const mk_choice* choices, uint32_t n_choices, mk_device** device,
                  mk_error* error);
  void (*close)(mk_device* device);

  /* Returns the choices that the results of an open device depend on (kernel variants). The backend measures them once
   * per device class and caches them on disk. The program records them with the run and passes them to open() on every
   * other node and on resume. */
  int32_t (*choices)(mk_device* device, mk_choice* out, uint32_t capacity, uint32_t* count, mk_error* error);

  /* `bytes` must be above 0. The contents are undefined. */
  int32_t (*buffer_create)(mk_device* device, uint64_t bytes, mk_buffer** buffer, mk_error* error);
  void (*buffer_destroy)(mk_device* device, mk_buffer* buffer);

  /* A queue executes its commands in order. */
  int32_t (*queue_create)(mk_device* device, uint32_t flags, mk_queue** queue, mk_error* error);
  void (*queue_destroy)(mk_queue* queue);

  /* Both functions enqueue and return; `event` may be NULL. They read the descriptor before they return. The program
   * has checked it, and the backend may rely on that: an op obeys its shape rule, its operands lie inside buffers of
   * this device, no output overlaps another operand unless the op allows it, and supports() accepts the op. The ranges
   * of a copy lie inside buffers of this device. Nobody checks buffer contents: see the header of the op. */
  int32_t (*copy)(mk_queue* queue, const mk_copy* copy, mk_event** event, mk_error* error);
  int32_t (*submit)(mk_queue* queue, const mk_op* op, mk_event** event, mk_error* error);

  /* Returns MK_SUPPORT_* for an op that obeys its shape rule. Looks at code, shapes, dtypes and attributes, not at
   * buffers. */
  int32_t (*supports)(mk_device* device, const mk_op* op);

  int32_t (*event_wait)(mk_event* event, mk_error* error);
  /* Reads the device clock at the start and end of the command, for completed events of a profiling queue. */
  int32_t (*event_time_ns)(mk_event* event, uint64_t start_end[2], mk_error* error);
  void (*event_destroy)(mk_event* event);

  /* Returns when all enqueued work is done. Spins for at most a few hundred microseconds, then sleeps. */
  int32_t (*finish)(mk_queue* queue, mk_error* error);

  /* Returns an optional table by name, or NULL. Names are never reused. The known names are "kernel_source_v1"
   * (mk_kernel_source), "host_pointer_v1" (mk_host_pointer), "group_v2" (mk_group) and "host_memory_v1"
   * (mk_host_memory). */
  const void* (*extension)(void* self, const char* name);

  void (*shutdown)(void* self);
} mk_backend;

/* The extension "host_pointer_v1" gives access to buffers that live in host memory. */
typedef struct mk_host_pointer {
  uint32_t struct_size;
  uint32_t reserved;
  void* (*pointer)(mk_buffer* buffer);
} mk_host_pointer;

/* The extension "host_memory_v1" provides host memory that a driver transfers without an intermediate copy
 * (page-locked). mk_copy accepts any host memory, but this memory is faster if the device has its own. */
typedef struct mk_host_block mk_host_block;

typedef struct mk_host_memory {
  uint32_t struct_size;
  uint32_t reserved;
  /* `bytes` must be above 0. The contents are undefined, and the memory is aligned for any type. Only the caller uses
   * it until destroy(), which must come before the queue is destroyed and after the last copy that uses the memory. */
  int32_t (*create)(mk_queue* queue, uint64_t bytes, mk_host_block** block, void** memory, mk_error* error);
  void (*destroy)(mk_host_block* block);
} mk_host_memory;

/* The extension "group_v2" submits the ops of several members, such as networks of one shape, in as few launches as
 * possible. The rules and the resulting bits are those of submitting the ops one by one. */
typedef struct mk_group {
  uint32_t struct_size;
  uint32_t reserved;
  /* Op k of member m is ops[m][k] with k < each; there may be no ops. Every op is valid and supported. The ops of a
   * member execute in order. No member writes to memory that another member reads or writes. */
  int32_t (*submit)(mk_queue* queue, const mk_op* const* ops, uint32_t members, uint32_t each, mk_event** event,
                    mk_error* error);
} mk_group;

/* The extension "kernel_source_v1" compiles and launches OpenCL C kernels that belong to a model. */
typedef struct mk_program mk_program;

typedef enum mk_argument_kind { MK_ARG_BUFFER = 1, MK_ARG_VALUE = 2, MK_ARG_LOCAL = 3 } mk_argument_kind;

typedef struct mk_argument {
  int32_t kind;
  int32_t reserved;
  mk_buffer* buffer; /* for BUFFER; may be NULL */
  const void* value; /* for VALUE; read before launch() returns */
  uint64_t bytes;    /* size of the VALUE or of the LOCAL memory */
} mk_argument;

typedef struct mk_kernel_source {
  uint32_t struct_size;
  uint32_t reserved;
  /* `source` is OpenCL C 1.2; `options` are compiler options without paths. Caches built binaries on disk. Writes the
   * build log to the program's log, and its first lines into the error. */
  int32_t (*build)(mk_device* device, const char* name, const char* source, const char* options, mk_program** program,
                   mk_error* error);
  void (*release)(mk_program* program);
  /* `local` may be NULL. `global` is a multiple of `local` in every dimension. */
  int32_t (*launch)(mk_queue* queue, mk_program* program, const char* kernel, const mk_argument* arguments,
                    uint32_t n_arguments, const uint64_t global[3], const uint64_t local[3], mk_event** event,
                    mk_error* error);
} mk_kernel_source;

#ifdef __cplusplus
}
#endif
#endif
