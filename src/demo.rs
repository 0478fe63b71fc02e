//! Logs to try the program on, drawn from known laws at a fixed seed: the same bytes whenever they are drawn.

use std::fmt::Write;

use leakgauge_base::error::Result;
use leakgauge_exact::mechanism::{self, Observed};
use leakgauge_exact::simulate::Simulation;

/// The seed of all demonstrations. It was not changed for what came out.
const SEED: u64 = 1;

/// What a log demonstrates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demo {
    /// Times of a program that takes longer on one of two inputs.
    Timing,
    /// Outputs of a count with too little noise for the ε that is claimed.
    DifferentialPrivacy,
    /// Sizes and times of visits to five web sites.
    Traffic,
}

impl Demo {
    /// All demonstrations.
    pub const ALL: [Demo; 3] = [Demo::Timing, Demo::DifferentialPrivacy, Demo::Traffic];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Demo::Timing => "timing",
            Demo::DifferentialPrivacy => "dp",
            Demo::Traffic => "traffic",
        }
    }

    /// The claim that its log violates; none of one that is only measured.
    pub fn claim(self) -> Option<&'static str> {
        match self {
            Demo::Timing => Some("time-difference(10ns)"),
            Demo::DifferentialPrivacy => Some("dp(epsilon=1)"),
            Demo::Traffic => None,
        }
    }

    /// The column of the secret.
    pub fn secret(self) -> &'static str {
        match self {
            Demo::Timing => "padding",
            Demo::DifferentialPrivacy => "dataset",
            Demo::Traffic => "site",
        }
    }

    /// Its log as CSV with a header.
    ///
    /// # Errors
    /// None that anything could cause but a mechanism that is no longer known.
    pub fn log(self) -> Result<String> {
        match self {
            Demo::Timing => timing(),
            Demo::DifferentialPrivacy => differential_privacy(),
            Demo::Traffic => traffic(),
        }
    }
}

/// Times of a padding check in nanoseconds: about 2000, normal noise of deviation 25 and a tail of mean 10 to the right;
/// 15 more if the padding is valid.
fn timing() -> Result<String> {
    let mut padding = Secrets::new(&["invalid", "valid"])?;
    let (mut noise, mut tail) = (
        Noise::new("gaussian(sigma=25)", 1)?,
        Noise::new("laplace(scale=10)", 2)?,
    );
    rows("padding,nanoseconds", 10_000, |line| {
        let (secret, name) = padding.next();
        let time = 2000.0 + 15.0 * secret as f64 + noise.next() + tail.next().abs();
        write!(line, "{name},{time:.0}")
    })
}

/// Counts of a database of 812 records, without and with one more, plus Laplace noise of scale 0.7: ε = 1/0.7 ≈ 1.43.
fn differential_privacy() -> Result<String> {
    let mut dataset = Secrets::new(&["without", "with"])?;
    let mut noise = Noise::new("laplace(scale=0.7)", 1)?;
    rows("dataset,noisy_count", 20_000, |line| {
        let (secret, name) = dataset.next();
        let count = 812.0 + secret as f64 + noise.next();
        write!(line, "{name},{count:.4}")
    })
}

/// A site: its name, packets and bytes of a visit on average, and how many seconds a packet takes.
const SITES: [(&str, f64, f64, f64); 5] = [
    ("news", 120.0, 90_000.0, 0.021),
    ("mail", 60.0, 40_000.0, 0.018),
    ("maps", 90.0, 110_000.0, 0.015),
    ("shop", 75.0, 65_000.0, 0.024),
    ("wiki", 50.0, 35_000.0, 0.017),
];

/// Visits: packets with normal noise of deviation 12, bytes of 15000, seconds of 0.25.
fn traffic() -> Result<String> {
    let mut site = Secrets::new(&SITES.map(|site| site.0))?;
    let mut noises = Vec::new();
    for seed in 1..=3 {
        noises.push(Noise::new("gaussian(sigma=1)", seed)?);
    }
    rows("site,packets,bytes,seconds", 5_000, |line| {
        let (secret, name) = site.next();
        let (_, packets, bytes, pace) = SITES[secret];
        let mut around = |at: usize, mean: f64, deviation: f64, least: f64| {
            (mean + deviation * noises[at].next()).max(least)
        };
        let packets = around(0, packets, 12.0, 4.0);
        let bytes = around(1, bytes, 15_000.0, 400.0);
        let seconds = around(2, pace * packets, 0.25, 0.05);
        write!(line, "{name},{packets:.0},{bytes:.0},{seconds:.3}")
    })
}

/// A header and so many rows.
fn rows(
    header: &str,
    count: usize,
    mut row: impl FnMut(&mut String) -> std::fmt::Result,
) -> Result<String> {
    let mut text = format!("{header}\n");
    for _ in 0..count {
        // Writing to a string cannot fail.
        let _ = row(&mut text);
        text.push('\n');
    }
    Ok(text)
}

/// Secrets that are drawn uniformly.
struct Secrets {
    simulation: Simulation,
    names: Vec<String>,
}

impl Secrets {
    fn new(names: &[&str]) -> Result<Self> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mechanism = mechanism::parse("identity")?;
        Ok(Secrets {
            simulation: Simulation::over(&*mechanism, names.clone(), SEED)?,
            names,
        })
    }

    /// The next secret: its number and its name.
    fn next(&mut self) -> (usize, String) {
        let (label, _) = self.simulation.next_row();
        let at = self.names.iter().position(|name| name == label);
        (at.unwrap_or(0), label.to_owned())
    }
}

/// The noise of a mechanism that adds it to a number.
struct Noise(Simulation);

impl Noise {
    /// Each noise of a log has a number of its own, from 1.
    fn new(mechanism: &str, number: u64) -> Result<Self> {
        let mechanism = mechanism::parse(mechanism)?;
        let zero = vec!["0".to_owned()];
        Simulation::over(&*mechanism, zero, SEED + number).map(Noise)
    }

    fn next(&mut self) -> f64 {
        match self.0.next_values().1.first() {
            Some(Observed::Number(value)) => *value,
            Some(Observed::Label(_)) | None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(demo: Demo) -> Vec<Vec<String>> {
        let log = demo.log().expect("a log");
        let rows = log.lines().skip(1);
        rows.map(|row| row.split(',').map(str::to_owned).collect())
            .collect()
    }

    fn numbers(rows: &[Vec<String>], secret: &str, column: usize) -> Vec<f64> {
        let of_secret = rows.iter().filter(|row| row[0] == secret);
        of_secret
            .map(|row| row[column].parse().expect("a number"))
            .collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn the_logs_are_of_the_laws_that_are_told() {
        let rows = columns(Demo::Timing);
        let [slow, fast] = ["valid", "invalid"].map(|secret| numbers(&rows, secret, 1));
        assert_eq!(slow.len() + fast.len(), 10_000);
        // Deviations of the means are below 0.4.
        let difference = mean(&slow) - mean(&fast);
        assert!((difference - 15.0).abs() < 3.0, "{difference}");
        assert!((mean(&fast) - 2010.0).abs() < 2.0);

        let rows = columns(Demo::DifferentialPrivacy);
        let counts = numbers(&rows, "without", 1);
        let spread = mean(&counts.iter().map(|x| (x - 812.0).abs()).collect::<Vec<_>>());
        // The mean distance of Laplace noise is its scale; the deviation of this mean is 0.007.
        assert!((spread - 0.7).abs() < 0.05, "{spread}");

        let rows = columns(Demo::Traffic);
        for (site, packets, ..) in SITES {
            let found = mean(&numbers(&rows, site, 1));
            assert!((found - packets).abs() < 3.0, "{site}: {found}");
        }
    }

    #[test]
    fn a_log_has_the_same_bytes_again() {
        for demo in Demo::ALL {
            assert_eq!(demo.log().expect("a log"), demo.log().expect("a log"));
        }
    }
}
