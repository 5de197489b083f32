/* What starting a device has taken. */
#pragma once

/* Seconds that the driver took to find its devices. */
double gc_device_discovery_seconds();

/* Seconds that a thread in the background took to make the context of a device, 0 if none has. */
double gc_device_context_seconds(int index);

/* Whether a device has started (gc_gpu_started). */
bool gc_device_has_started(int index);

void gc_device_note_started(int index);
