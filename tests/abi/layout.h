/* The layout of everything that crosses the boundary, on 64-bit systems. C and C++ must agree on it, and so must
 * today's headers and those with which a library was built. A change here changes the ABI: see core/abi/plugin.h. */
#ifndef MOKUME_TESTS_ABI_LAYOUT_H
#define MOKUME_TESTS_ABI_LAYOUT_H

#include <assert.h>
#include <stddef.h>

#include "abi/backend.h"
#include "abi/model.h"
#include "abi/plugin.h"
#include "abi/transport.h"

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type " has changed its size")
#define PLACE(type, field, bytes) static_assert(offsetof(type, field) == (bytes), #type "." #field " has moved")

SIZE(mk_error, 512);
PLACE(mk_error, text, 4);
SIZE(mk_host, 64);
PLACE(mk_host, self, 8);
PLACE(mk_host, log, 16);
PLACE(mk_host, cache_directory, 56);
SIZE(mk_plugin_header, 64);
PLACE(mk_plugin_header, magic, 0);
PLACE(mk_plugin_header, struct_size, 8);
PLACE(mk_plugin_header, abi_major, 12);
PLACE(mk_plugin_header, abi_minor, 14);
PLACE(mk_plugin_header, abi_hash, 16);
PLACE(mk_plugin_header, kind, 24);
PLACE(mk_plugin_header, sanitizer, 28);
PLACE(mk_plugin_header, name, 32);
PLACE(mk_plugin_header, version, 40);
PLACE(mk_plugin_header, description, 48);
PLACE(mk_plugin_header, start, 56);
SIZE(mk_tensor, 48);
PLACE(mk_tensor, offset, 8);
PLACE(mk_tensor, row_stride, 32);
PLACE(mk_tensor, dtype, 40);
SIZE(mk_op, 640);
PLACE(mk_op, code, 4);
PLACE(mk_op, inputs, 16);
PLACE(mk_op, outputs, 256);
PLACE(mk_op, reals, 448);
PLACE(mk_op, integers, 512);
SIZE(mk_device_info, 688);
PLACE(mk_device_info, flags, 8);
PLACE(mk_device_info, compute_units, 32);
PLACE(mk_device_info, name, 48);
PLACE(mk_device_info, physical_id, 560);
PLACE(mk_device_info, isa, 624);
SIZE(mk_choice, 128);
PLACE(mk_choice, value, 48);
SIZE(mk_copy, 56);
PLACE(mk_copy, from, 8);
PLACE(mk_copy, host, 24);
PLACE(mk_copy, bytes, 48);
SIZE(mk_backend, 152);
PLACE(mk_backend, abi_major, 4);
PLACE(mk_backend, self, 8);
PLACE(mk_backend, enumerate, 16);
PLACE(mk_backend, submit, 88);
PLACE(mk_backend, extension, 136);
PLACE(mk_backend, shutdown, 144);
SIZE(mk_host_pointer, 16);
PLACE(mk_host_pointer, pointer, 8);
SIZE(mk_host_memory, 24);
PLACE(mk_host_memory, create, 8);
SIZE(mk_argument, 32);
PLACE(mk_argument, buffer, 8);
PLACE(mk_argument, bytes, 24);
SIZE(mk_kernel_source, 32);
PLACE(mk_kernel_source, build, 8);
PLACE(mk_kernel_source, launch, 24);
SIZE(mk_param, 72);
PLACE(mk_param, minimum, 16);
PLACE(mk_param, doc, 48);
PLACE(mk_param, forms, 56);
SIZE(mk_form, 32);
PLACE(mk_form, params, 16);
SIZE(mk_metric, 16);
PLACE(mk_metric, selects, 12);
SIZE(mk_value, 8);
SIZE(mk_data, 72);
PLACE(mk_data, x, 16);
PLACE(mk_data, n_classes, 40);
PLACE(mk_data, channels, 44);
PLACE(mk_data, class_names, 56);
PLACE(mk_data, weights, 64);
SIZE(mk_file, 24);
PLACE(mk_file, size, 16);
SIZE(mk_experiment, 88);
PLACE(mk_experiment, values, 8);
PLACE(mk_experiment, seed, 40);
PLACE(mk_experiment, samples, 24);
PLACE(mk_experiment, n_bootstraps, 36);
PLACE(mk_experiment, n_scaling, 64);
PLACE(mk_experiment, own_candidates, 68);
PLACE(mk_experiment, files, 80);
SIZE(mk_sample, 24);
PLACE(mk_sample, row, 8);
PLACE(mk_sample, fold_of, 16);
SIZE(mk_fit, 32);
PLACE(mk_fit, bootstrap, 12);
PLACE(mk_fit, note, 16);
PLACE(mk_fit, scratch, 24);
SIZE(mk_curve, 24);
PLACE(mk_curve, values, 16);
SIZE(mk_validated, 32);
PLACE(mk_validated, scores, 16);
SIZE(mk_fit_result, 64);
PLACE(mk_fit_result, n, 8);
PLACE(mk_fit_result, note, 32);
PLACE(mk_fit_result, curves, 40);
PLACE(mk_fit_result, validated, 56);
SIZE(mk_block, 16);
PLACE(mk_block, values, 8);
SIZE(mk_team, 64);
PLACE(mk_team, member, 8);
PLACE(mk_team, self, 16);
PLACE(mk_team, speeds, 24);
PLACE(mk_team, take, 40);
PLACE(mk_team, account, 48);
SIZE(mk_device_services, 168);
PLACE(mk_device_services, self, 8);
PLACE(mk_device_services, info, 16);
PLACE(mk_device_services, submit, 72);
PLACE(mk_device_services, submit_group, 80);
PLACE(mk_device_services, set_choice, 120);
PLACE(mk_device_services, scope_end, 136);
PLACE(mk_device_services, host_memory_create, 144);
PLACE(mk_device_services, team, 160);
SIZE(mk_fit_sink, 40);
PLACE(mk_fit_sink, cancelled, 24);
PLACE(mk_fit_sink, wants_validated, 32);
SIZE(mk_bundle, 32);
PLACE(mk_bundle, cost, 16);
PLACE(mk_bundle, bytes, 24);
SIZE(mk_bundle_sink, 16);
SIZE(mk_imported, 40);
PLACE(mk_imported, trained, 8);
PLACE(mk_imported, scale, 32);
SIZE(mk_sigmoid, 16);
SIZE(mk_model, 232);
PLACE(mk_model, self, 8);
PLACE(mk_model, params, 16);
PLACE(mk_model, regression_metrics, 40);
PLACE(mk_model, teams, 52);
PLACE(mk_model, validated, 56);
PLACE(mk_model, expand, 64);
PLACE(mk_model, check, 72);
PLACE(mk_model, fit, 112);
PLACE(mk_model, score_kind, 144);
PLACE(mk_model, shutdown, 184);
PLACE(mk_model, export_onnx, 192);
PLACE(mk_model, weighs, 200);
PLACE(mk_model, import_onnx, 208);
PLACE(mk_model, probabilities, 224);
SIZE(mk_transport, 112);
PLACE(mk_transport, self, 8);
PLACE(mk_transport, rank, 16);
PLACE(mk_transport, wait, 56);
PLACE(mk_transport, wake, 64);
PLACE(mk_transport, leave, 96);
PLACE(mk_transport, shutdown, 104);

#endif
