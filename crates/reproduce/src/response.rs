//! Figure 7: randomized response on a population.

use leakgauge_base::parallel;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::population::{CELLS, PEOPLE, binomial, multinomial};
use super::{Audited, BlackBox, Comparison, FigureOutput, Population, ReproduceOptions};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::option;
use leakgauge_exact::mechanism::{self, Mechanism};
use leakgauge_exact::simulate::Simulation;
use leakgauge_log::{LogBuilder, Value};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, Spot, chart};
use leakgauge_plot::{Figure, Table};

const EPSILONS: [f64; 21] = [
    0.01, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.3, 3.5, 4.0, 4.5, 4.8, 5.0, 5.5, 6.0, 6.5, 7.0, 7.5, 8.0,
    9.0, 10.0,
];

/// The results for one ε.
struct At {
    epsilon: f64,
    /// The total variation between the population and its estimate.
    error: f64,
    analytic: f64,
    audit: Audited,
}

pub(super) fn figure_7(options: &ReproduceOptions) -> Result<FigureOutput> {
    let audit = options.audit.ok_or_else(|| {
        Error::parameter(
            "ReproduceOptions::audit",
            "figure 7 needs a black-box audit, but none is given",
        )
    })?;
    let generated;
    let population = match &options.population {
        Some(given) => given,
        None => {
            generated = Population::generated(options.seed);
            &generated
        }
    };
    let found = parallel::map(EPSILONS.len(), |at| {
        let seed = options.seed.wrapping_add(1 + at as u64);
        measure(audit, population, EPSILONS[at], options.rows, seed)
    });
    let found = found.into_iter().collect::<Result<Vec<At>>>()?;
    Ok(FigureOutput {
        comparisons: numbers_7()?,
        notes: notes(population, options, &found),
        pictures: vec![Figure {
            file: "bayes-security-figure-7",
            table: table(&found),
            svg: picture(population, &found),
        }],
    })
}

fn measure(
    audit: BlackBox,
    population: &Population,
    epsilon: f64,
    rows: u64,
    seed: u64,
) -> Result<At> {
    let cells = population.cells.len();
    let mechanism = mechanism::parse(&format!(
        "randomized-response(epsilon={epsilon}, secrets={cells})"
    ))?;
    let bound = mechanism.bind_declared()?;
    // Randomized response tells the truth with this probability, else any label.
    let truth = bound.total_variation(0, 1);
    Ok(At {
        epsilon,
        error: estimation_error(&population.cells, truth, seed),
        analytic: bound.bayes_security(0, 1),
        audit: black_box(audit, &*mechanism, rows, seed)?,
    })
}

/// The leakage of two secrets, estimated from a log.
fn black_box(audit: BlackBox, mechanism: &dyn Mechanism, rows: u64, seed: u64) -> Result<Audited> {
    let pair = ["0", "1"].map(str::to_owned).to_vec();
    let mut simulation = Simulation::over(mechanism, pair, seed)?;
    let mut log = LogBuilder::new()
        .name("simulated")
        .label_column("observation");
    for _ in 0..rows {
        let (secret, fields) = simulation.next_row();
        let fields: Vec<Value> = fields.iter().map(|field| field.as_str().into()).collect();
        log.push(secret, &fields)?;
    }
    audit(&log.build()?, seed)
}

/// Randomizes every person's cell and estimates the number of people in each cell.
///
/// # Formula
/// With truth w among n cells, a reported share q has mean (1 − w)/n + w p; so p̂ = (q − (1 − w)/n)/w, with
/// negative values set to 0 and the rest normalized. The error is the total variation of p̂ and p.
fn estimation_error(cells: &[u64], truth: f64, seed: u64) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let people: u64 = cells.iter().sum();
    let mut told: Vec<u64> = cells
        .iter()
        .map(|&count| binomial(count, truth, &mut rng))
        .collect();
    let rest = people - told.iter().sum::<u64>();
    let random = multinomial(rest, &vec![1.0; cells.len()], &mut rng);
    told.iter_mut()
        .zip(random)
        .for_each(|(told, random)| *told += random);
    let n = cells.len() as f64;
    let estimate: Vec<f64> = told
        .iter()
        .map(|&count| ((count as f64 / people as f64 - (1.0 - truth) / n) / truth).max(0.0))
        .collect();
    let sum: f64 = estimate.iter().sum();
    let off = estimate.iter().zip(cells).map(|(p, &count)| {
        // Nothing left above 0: nothing is known, so all cells alike.
        let p = if sum > 0.0 { p / sum } else { 1.0 / n };
        (p - count as f64 / people as f64).abs()
    });
    off.sum::<f64>() / 2.0
}

fn table(found: &[At]) -> Table {
    let mut table = Table::new(&[
        "epsilon",
        "estimation_error",
        "utility",
        "bayes_security_analytic",
        "bayes_security_estimate",
        "bayes_security_lower",
        "bayes_security_upper",
    ]);
    for at in found {
        let estimate = &at.audit;
        table.push([
            at.epsilon.into(),
            at.error.into(),
            (1.0 - at.error).into(),
            at.analytic.into(),
            estimate.estimate.into(),
            estimate.lower.into(),
            estimate.upper.into(),
        ]);
    }
    table
}

fn picture(population: &Population, found: &[At]) -> String {
    let spot = |at: &At| {
        let estimate = &at.audit;
        Spot {
            x: at.epsilon,
            y: estimate.estimate,
            lower: estimate.lower,
            upper: estimate.upper,
        }
    };
    let line =
        |pick: fn(&At) -> f64| Mark::Line(found.iter().map(|at| (at.epsilon, pick(at))).collect());
    chart(&Chart {
        caption: Caption::new(
            "Utility and Bayes security of randomized response",
            format!(
                "On {}, utility increases with ε and Bayes security decreases; estimates from logs are on the analytic curve.",
                population.name
            ),
        ),
        x: Axis::linear("ε of local differential privacy").from_to(0.0, 10.2),
        y: Axis::linear("utility, Bayes security").from_to(0.0, 1.05),
        layers: vec![
            Layer::new("utility, 1 − error", 1, line(|at| 1.0 - at.error)),
            Layer::new(
                "β*, analytic",
                0,
                Mark::Line(analytic(population.cells.len())),
            ),
            Layer::new(
                "β*, from logs, 95 % limits",
                2,
                Mark::Points(found.iter().map(spot).collect()),
            ),
        ],
        aspect: 0.62,
    })
}

/// The analytic curve n/(e^ε + n − 1) of equation (7), closely spaced.
fn analytic(secrets: usize) -> Vec<(f64, f64)> {
    let n = secrets as f64;
    let at = |step: u32| {
        let epsilon = 0.05 * f64::from(step);
        (epsilon, n / (libm::exp(epsilon) + n - 1.0))
    };
    (0..=200).map(at).collect()
}

fn notes(population: &Population, options: &ReproduceOptions, found: &[At]) -> Vec<String> {
    let first = |least: f64| {
        let at = found.iter().find(|at| 1.0 - at.error >= least);
        at.map_or("no ε of the grid".to_owned(), |at| {
            format!("ε = {}", at.epsilon)
        })
    };
    let source = match &options.population {
        Some(_) => String::new(),
        None => format!(
            "; as many as in the paper's census, whose file is not part of this program. {} takes another",
            option("data")
        ),
    };
    let mut notes = vec![
        format!(
            "Population: {}, {} people in {} cells{source}. Utility is 1 − total variation between the population and its estimate (shares corrected for the noise, negative ones set to 0).",
            population.name,
            population.people(),
            population.cells.len(),
        ),
        format!(
            "Utility reaches 95 % at {} and 99 % at {}; the paper reports ε = 3.3 and 4.8 on its census.",
            first(0.95),
            first(0.99)
        ),
    ];
    let covered = found.iter().filter(|at| {
        let limits = &at.audit;
        limits.lower.is_none_or(|lower| lower <= at.analytic)
            && limits.upper.is_none_or(|upper| at.analytic <= upper)
    });
    notes.push(format!(
        "Black box: {} rows of two secrets at each ε, audited without knowledge of the mechanism; the 95 % limits contain the analytic value for {} of {} values of ε.",
        options.rows, covered.count(), found.len()
    ));
    notes
}

/// The numbers printed in appendix H.
pub(super) fn numbers_7() -> Result<Vec<Comparison>> {
    let security = |epsilon: f64, secrets: u64| -> Result<f64> {
        super::curves::figure(
            &format!("randomized-response(epsilon={epsilon}, secrets={secrets})"),
            "bayes_security",
        )
    };
    let place = "appendix H";
    let reason = "eq. (7) with the number of people instead of the 400 secrets";
    let cells = CELLS as u64;
    let high = security(4.8, cells)?;
    Ok(vec![
        Comparison::number(
            place,
            "β*, RR, ε = 3.3, 400 secrets",
            "0.99999",
            security(3.3, cells)?,
        )
        .because(reason),
        Comparison::number(place, "β*, RR, ε = 4.8, 400 secrets", "0.99995", high).because(reason),
        Comparison::claim(
            place,
            "β*, RR, ε = 4.8, 400 secrets",
            "above 0.9",
            high,
            high > 0.9,
        ),
        Comparison::number(
            place,
            "estimate of β*, ε = 3.3",
            "0.96",
            security(3.3, cells)?,
        )
        .because("the paper has an estimate; the recomputed value is exact"),
        Comparison::number(
            place,
            "eq. (7), ε = 3.3, n = 2458285",
            "0.99999",
            security(3.3, PEOPLE)?,
        ),
        Comparison::number(
            place,
            "eq. (7), ε = 4.8, n = 2458285",
            "0.99995",
            security(4.8, PEOPLE)?,
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakgauge_exact::mechanism::Law;

    /// "The truth with probability w, else any label" is the mechanism's own law.
    #[test]
    fn randomized_response_is_the_mixture_that_is_drawn() {
        for epsilon in [0.01, 1.0, 4.8] {
            let bound = mechanism::parse(&format!(
                "randomized-response(epsilon={epsilon}, secrets=400)"
            ))
            .unwrap()
            .bind_declared()
            .unwrap();
            let truth = bound.total_variation(0, 1);
            let Law::Labels(law) = bound.law(7) else {
                panic!("labels")
            };
            for (label, p) in law {
                let drawn = (1.0 - truth) / 400.0 + if label == "7" { truth } else { 0.0 };
                assert!((drawn - p).abs() < 1e-14, "{label}: {drawn} {p}");
            }
        }
    }

    /// Without noise the estimate is exact; with hardly any truth it tells nothing.
    #[test]
    fn the_error_goes_from_none_to_large() {
        let cells = [500, 300, 200, 0];
        assert!(estimation_error(&cells, 1.0, 0) < 1e-15);
        assert!(estimation_error(&[0, 10, 990], 1e-9, 0) > 0.1);
        // 1,000,000 people, w = 1/2, 4 cells: a deviation of each cell is at most 0.001.
        assert!(estimation_error(&[500_000, 300_000, 200_000, 0], 0.5, 0) < 0.01);
    }
}
