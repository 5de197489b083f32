/* Who adds entries to the table. */
#pragma once

#include "harness.cuh"

/* The bound of a convolution in float32 (rule 4), for weights whose magnitudes add up to 1. */
constexpr double peers_float_tolerance(double terms)
{
    return 4.0 * terms * peers_max_sample / 16777216.0;
}

/* Threshold of the edges chains, in 8-bit levels: with random pixels it splits them in two parts of
 * similar size. */
constexpr double peers_edges_threshold = 16.0;

/* What the chip does where nothing is computed: empty launch, copies, reading a picture and writing
 * bits. */
void peers_add_floors(std::vector<peers_entry> *entries, const peers_data &data);

/* Each adds a square filter's entries. */
void peers_add_fft(std::vector<peers_entry> *entries, const peers_data &data, int side);
void peers_add_npp(std::vector<peers_entry> *entries, const peers_data &data, int side);
void peers_add_ours(std::vector<peers_entry> *entries, const peers_data &data, int side);

void peers_add_our_chains(std::vector<peers_entry> *entries, const peers_data &data);
void peers_add_our_edges(std::vector<peers_entry> *entries, const peers_data &data);
void peers_add_npp_edges(std::vector<peers_entry> *entries, const peers_data &data);
