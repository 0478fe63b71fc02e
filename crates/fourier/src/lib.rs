//! Fourier transforms of double precision.
//!
//! The transforms of `rustfft` are generic: whichever crate plans one compiles all of them, a third of what the compiler
//! has to do for `leakgauge-exact`, and again for its tests. Here they are planned by functions that are not generic, so
//! the compiler meets them once.

use std::fmt;
use std::sync::Arc;

use realfft::RealFftPlanner;
use rustfft::{FftDirection, FftPlanner};

pub use realfft::{ComplexToReal, RealToComplex};
pub use rustfft::Fft;
pub use rustfft::num_complex::Complex;

/// Plans transforms, and keeps what plans of several lengths share. No transform divides by the length.
pub struct Planner {
    complex: FftPlanner<f64>,
    real: RealFftPlanner<f64>,
}

impl Planner {
    /// A planner that has planned nothing.
    pub fn new() -> Planner {
        Planner {
            complex: FftPlanner::new(),
            real: RealFftPlanner::new(),
        }
    }

    /// Of `length` complex values xⱼ: Σⱼ xⱼ·e^(2πijk/length) for each k.
    pub fn inverse(&mut self, length: usize) -> Arc<dyn Fft<f64>> {
        self.complex.plan_fft(length, FftDirection::Inverse)
    }

    /// Of `length` real values xⱼ: Σⱼ xⱼ·e^(−2πijk/length) for k from 0 to ⌊length/2⌋; the others are conjugates of these.
    pub fn real(&mut self, length: usize) -> Arc<dyn RealToComplex<f64>> {
        self.real.plan_fft_forward(length)
    }

    /// From ⌊length/2⌋ + 1 values as [`Planner::real`] gives them: `length` times what they were made of.
    pub fn real_inverse(&mut self, length: usize) -> Arc<dyn ComplexToReal<f64>> {
        self.real.plan_fft_inverse(length)
    }
}

impl Default for Planner {
    fn default() -> Planner {
        Planner::new()
    }
}

impl fmt::Debug for Planner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Planner")
    }
}
