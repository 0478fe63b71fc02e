//! Everything that is tested from outside: the program on files, the library on logs, the pages and examples.
//! One binary, so that it is linked once.

mod agreement;
mod any_input;
mod bad_input;
mod bad_options;
mod bounds;
mod channel_cli;
mod channel_golden;
mod coarse_clocks;
#[cfg(feature = "parquet")]
mod columnar_damage;
#[cfg(feature = "parquet")]
mod columnar_logs;
mod columns;
mod common;
mod compare;
mod composition;
mod copies;
mod datasets;
mod directories;
mod doubts;
mod evidence;
mod explain;
mod first_run;
mod follow;
mod follow_blocks;
mod gates;
mod given_scores;
mod groups;
mod hints;
mod hostile_input;
mod house;
mod information;
mod json_lines;
#[cfg(feature = "schema")]
mod json_schema;
mod logs_from_memory;
mod max_rows;
mod maximal_leakage;
mod mechanism_exact;
mod mechanism_golden;
mod mechanism_samples;
mod mechanism_text;
mod mechanisms;
mod membership;
mod mixed_cells;
mod mixed_columns;
mod neighbors;
mod newcomers;
mod observed;
mod outputs;
mod permute;
mod plan;
mod privacy_claims;
mod probe;
mod reading;
mod readme;
mod real_logs;
mod recognized;
#[cfg(feature = "reproduce")]
mod reproduce;
mod requested;
mod resources;
mod reused_rows;
mod row_order;
mod rows_left_out;
mod shapes;
mod short_report;
mod shuffle_cli;
mod shuffle_flow;
mod shuffle_information;
mod shuffle_questions;
mod shuffle_reidentify;
#[cfg(unix)]
mod signals;
mod sparse_logs;
mod spellings;
mod split_blocks;
mod statistics;
mod terminal;
mod timings;
mod unpaired_times;
mod values;
mod verdicts;
mod witness;
mod written_numbers;
