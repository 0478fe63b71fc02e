//! ρ and λ for increasing group sizes, between no shuffle and a uniform shuffle.

use super::super::Comparison;
use super::{Between, Effort, Population, Scheme, Spread};
use leakgauge_plot::Axis;
use leakgauge_plot::Figure;

/// ρ and λ, each with the size of groups.
pub(super) struct Swept<'a> {
    population: &'a Population,
    effort: Effort,
    seed: u64,
    rho: Vec<(f64, Spread)>,
    lambda: Vec<(f64, Spread)>,
    /// ρ and λ in order, and after a uniform shuffle.
    in_order: [Spread; 2],
    uniform: [Spread; 2],
}

impl<'a> Swept<'a> {
    pub(super) fn new(population: &'a Population, effort: Effort, seed: u64) -> Self {
        let [in_order, uniform] = [Scheme::InOrder, Scheme::Uniform]
            .map(|scheme| both(population, &scheme, effort, seed));
        Swept {
            population,
            effort,
            seed,
            rho: Vec::new(),
            lambda: Vec::new(),
            in_order,
            uniform,
        }
    }

    /// Adds one group size.
    pub(super) fn add(&mut self, size: f64, scheme: &Scheme) {
        let [rho, lambda] = both(self.population, scheme, self.effort, self.seed);
        self.rho.push((size, rho));
        self.lambda.push((size, lambda));
    }

    /// Whether ρ goes from near that of no shuffle to near that of a uniform one.
    pub(super) fn spans(&self, place: &'static str) -> Comparison {
        super::spans(&self.rho, self.in_order[0], self.uniform[0], place)
    }

    pub(super) fn pictures(&self, files: [&'static str; 2], of: &str) -> Vec<Figure> {
        let range = (self.rho[0].0, self.rho[self.rho.len() - 1].0);
        let between = |at: usize, title, says, y| Between {
            file: files[at],
            title,
            says,
            x: Axis::log("mean number of rows per group"),
            y,
            range,
            in_order: self.in_order[at],
            uniform: self.uniform[at],
        };
        let attack = format!("Share of people whose value an attack recovers, {of}");
        let learned = format!("Error of learned local distributions, {of}");
        vec![
            between(
                0,
                &attack,
                "Larger groups protect better, from no shuffle to a uniform shuffle.",
                "share recovered, ρ",
            )
            .picture("group_size", &self.rho),
            between(
                1,
                &learned,
                "Larger groups leave less to learn.",
                "error relative to guessing, λ",
            )
            .picture("group_size", &self.lambda),
        ]
    }
}

fn both(population: &Population, scheme: &Scheme, effort: Effort, seed: u64) -> [Spread; 2] {
    [
        population.vulnerable(scheme, effort, seed)[0],
        population.error(scheme, effort, seed),
    ]
}
