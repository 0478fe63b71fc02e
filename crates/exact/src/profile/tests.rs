//! Tests of figures of likelihood ratios.
