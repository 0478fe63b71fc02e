//! Figures 2 to 5 of the paper on re-identification in the shuffle model, and its printed numbers.

use libm::{exp, lgamma, log, pow};

use super::{Comparison, FigureOutput, ReproduceOptions};
use leakgauge_base::error::{Error, Result};
use leakgauge_exact::mechanism;
use leakgauge_exact::shuffle::reidentification::{Game, Randomizer, RatioLaw, Segment};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, chart};
use leakgauge_plot::{Cell, Figure, Table};

/// The exponent of Example IV.2.
const EXPONENT: f64 = 0.7;
/// Numbers of passwords; the paper does not state one.
const SIZES: [(usize, &str); 3] = [
    (1_000, "exact, m = 10³"),
    (10_000, "exact, m = 10⁴"),
    (100_000, "exact, m = 10⁵"),
];

fn success(law: &RatioLaw, n: u64, k: u64) -> Result<f64> {
    Ok(law.success(&Game::new(n, k)?).success)
}

fn picture(
    file: &'static str,
    table: Table,
    (title, says): (&str, &str),
    (x, y): (Axis, Axis),
    layers: Vec<Layer>,
) -> Figure {
    let svg = chart(&Chart {
        caption: Caption::new(title, says),
        x,
        y,
        layers,
        aspect: 0.62,
    });
    Figure { file, table, svg }
}

/// Example IV.1: density x + 1/2 against 1 on \[0, 1\].
fn linear() -> Result<RatioLaw> {
    RatioLaw::from_segments(&[Segment {
        from: 0.0,
        to: 1.0,
        ends: (log(0.5), log(1.5)),
        place: Box::new(|level| exp(level) - 0.5),
        p_mass: Box::new(|x, y| 0.5 * (y - x) * (x + y + 1.0)),
        q_mass: Box::new(|x, y| y - x),
    }])
}

/// Success against guesses for a linear density.
pub(super) fn figure_2(_: &ReproduceOptions) -> Result<FigureOutput> {
    const N: u64 = 20;
    let law = linear()?;
    let n = N as f64;
    let mut table = Table::new(&["guesses", "success", "printed_formula"]);
    let (mut line, mut farthest) = (Vec::new(), 0.0_f64);
    for k in 1..=N {
        let found = success(&law, N, k)?;
        let x = k as f64;
        let printed = ((3.0 * n + 2.0) * x - x * x) / (2.0 * n * (n + 1.0));
        farthest = farthest.max((found - printed).abs());
        table.push([k.into(), found.into(), printed.into()]);
        line.push((x, found));
    }
    let agrees = farthest < 1e-12;
    Ok(FigureOutput {
        comparisons: vec![Comparison::statement(
            "Example IV.1",
            "β₂₀ᵏ",
            "(3n + 2)k/2n(n + 1) − k²/2n(n + 1)",
            if agrees {
                "the same for every k"
            } else {
                "not the same"
            },
            agrees,
        )],
        pictures: vec![picture(
            "reidentification-figure-2",
            table,
            (
                "Success against guesses, Example IV.1",
                "Among 20 messages, one of density x + 1/2 and the others uniform, success increases from 0.073 to 1, slightly faster than linearly.",
            ),
            (
                Axis::linear("guesses k"),
                Axis::linear("success").from_to(0.0, 1.0),
            ),
            vec![Layer::new("", 0, Mark::Line(line))],
        )],
        ..FigureOutput::default()
    })
}

fn zipf(size: usize) -> Result<RatioLaw> {
    let weights: Vec<f64> = (1..=size).map(|rank| pow(rank as f64, -EXPONENT)).collect();
    RatioLaw::from_weights(&weights, &vec![1.0; size])
}

/// (1 − α) C(n−1, j−1) B(j−α, n+1−j), summed over j up to k: what the paper plots.
fn approximation(n: u64, k: u64) -> f64 {
    let n = n as f64;
    let term = |j: u64| {
        let j = j as f64;
        let choose = lgamma(n) - lgamma(j) - lgamma(n - j + 1.0);
        let beta = lgamma(j - EXPONENT) + lgamma(n + 1.0 - j) - lgamma(n + 1.0 - EXPONENT);
        (1.0 - EXPONENT) * exp(choose + beta)
    };
    (1..=k).map(term).sum()
}

/// The approximation and the exact values, over games.
fn zipf_picture(
    file: &'static str,
    words: (&str, &str),
    (x, column): (Axis, &'static str),
    games: impl Iterator<Item = (u64, u64)> + Clone,
    along: fn((u64, u64)) -> u64,
) -> Result<Figure> {
    let mut table = Table::new(&[column, "passwords", "success"]);
    let mut layers = Vec::new();
    let mut add = |passwords: Cell, name, success: &dyn Fn(u64, u64) -> Result<f64>| {
        let mut line = Vec::new();
        for (n, k) in games.clone() {
            let (at, found) = (along((n, k)), success(n, k)?);
            table.push([at.into(), passwords.clone(), found.into()]);
            line.push((at as f64, found));
        }
        layers.push(Layer::new(name, layers.len(), Mark::Line(line)));
        Ok::<(), Error>(())
    };
    let approximate = |n, k| Ok(approximation(n, k));
    add("approximation".into(), "Beta approximation", &approximate)?;
    for (size, name) in SIZES {
        let law = zipf(size)?;
        add(size.into(), name, &|n, k| success(&law, n, k))?;
    }
    let y = Axis::linear("success").from_to(0.0, 1.0);
    Ok(picture(file, table, words, (x, y), layers))
}

/// A printed statement, checked against the approximation and against exact values.
struct Printed {
    quantity: &'static str,
    text: &'static str,
    holds: fn(f64) -> bool,
    because: &'static str,
}

impl Printed {
    fn compare(
        &self,
        approximate: f64,
        exact: impl Fn(&RatioLaw) -> Result<f64>,
    ) -> Result<Vec<Comparison>> {
        let claim = |what: &str, value: f64| {
            let quantity = format!("{}, {what}", self.quantity);
            let holds = (self.holds)(value);
            let claim = Comparison::claim("Example IV.2", &quantity, self.text, value, holds);
            if holds {
                claim
            } else {
                claim.because(self.because)
            }
        };
        let mut all = vec![claim("Beta approximation", approximate)];
        for (size, name) in SIZES {
            all.push(claim(name, exact(&zipf(size)?)?));
        }
        Ok(all)
    }
}

/// Success against n, passwords by Zipf's law.
pub(super) fn figure_3(_: &ReproduceOptions) -> Result<FigureOutput> {
    let first = (1..1000).find(|&n| approximation(n, 1) < 0.2).unwrap_or(0);
    let printed = Printed {
        quantity: "first n with success below 0.2",
        text: "150",
        holds: |n| n == 150.0,
        because: "the paper's number comes from its approximation, which exceeds every exact value",
    };
    Ok(FigureOutput {
        comparisons: printed.compare(first as f64, |law| {
            Ok(law.messages_for(0.2, 1)?.unwrap_or(0) as f64)
        })?,
        notes: vec![
            "The paper plots (1 − α)B(1 − α, n); exact values depend on the number m of passwords, which it does not state, and converge to the approximation for large m.".to_owned(),
            "The Riemann step of Example IV.2 must read (1 − (i − 1)/m)^−α.".to_owned(),
        ],
        pictures: vec![zipf_picture(
            "reidentification-figure-3",
            (
                "Success against n, Zipf passwords and uniform honeywords",
                "Exact success is below the paper's approximation, by more for fewer passwords.",
            ),
            (Axis::linear("sweetwords n"), "n"),
            (2..=200).map(|n| (n, 1)),
            |(n, _)| n,
        )?],
    })
}

/// Success against guesses, passwords by Zipf's law.
pub(super) fn figure_4(_: &ReproduceOptions) -> Result<FigureOutput> {
    let printed = Printed {
        quantity: "success of 3 guesses among 20",
        text: "above 0.5",
        holds: |success| success > 0.5,
        because: "true only for the approximation and for large m",
    };
    Ok(FigureOutput {
        comparisons: printed.compare(approximation(20, 3), |law| success(law, 20, 3))?,
        notes: Vec::new(),
        pictures: vec![zipf_picture(
            "reidentification-figure-4",
            (
                "Success against guesses, Zipf passwords and uniform honeywords",
                "Among 20 sweetwords three guesses find about half of the passwords.",
            ),
            (Axis::linear("guesses k"), "guesses"),
            (1..=20).map(|k| (20, k)),
            |(_, k)| k,
        )?],
    })
}

fn randomizer(text: &str, inputs: &[&str]) -> Result<Randomizer> {
    let inputs: Vec<String> = inputs.iter().map(ToString::to_string).collect();
    let given = (!inputs.is_empty()).then_some(&inputs[..]);
    Randomizer::new(&*mechanism::parse(text)?, given)
}

/// The two decompositions of a Laplace mechanism, and the numbers of section VI.
pub(super) fn figure_5(_: &ReproduceOptions) -> Result<FigureOutput> {
    let mut table = Table::new(&["y", "input_0", "input_1", "clone_of_0", "blanket"]);
    let mut lines = [const { Vec::new() }; 4];
    for i in 0..=320_i32 {
        let y = f64::from(i - 144) / 40.0;
        let (zero, one) = (0.5 * exp(-y.abs()), 0.5 * exp(-(y - 1.0).abs()));
        let row = [zero, one, exp(-1.0) * zero, zero.min(one)];
        table.push([y, row[0], row[1], row[2], row[3]].map(Cell::from));
        for (line, value) in lines.iter_mut().zip(row) {
            line.push((y, value));
        }
    }
    let names = ["R(0)", "R(1)", "clone, e⁻¹R(0)", "blanket, min"];
    let layers = names.into_iter().zip(lines).enumerate();
    let layers = layers.map(|(series, (name, line))| Layer::new(name, series, Mark::Line(line)));
    Ok(FigureOutput {
        comparisons: numbers()?,
        notes: vec![
            "Theorem 5 is wrong for n = 1 unless P = Q, because Adv⁺ is 0.".to_owned(),
            "Section VI-C's k-RR (Example III.1) writes ε₀ but means ε.".to_owned(),
        ],
        pictures: vec![picture(
            "reidentification-figure-5",
            table,
            (
                "Decompositions of the 1-DP Laplace mechanism on {0, 1}",
                "The blanket, the minimum of both densities, has mass 0.61; the clone, one density scaled to 0.37, is below it.",
            ),
            (Axis::linear("message"), Axis::linear("density")),
            layers.collect(),
        )],
    })
}

fn numbers() -> Result<Vec<Comparison>> {
    let laplace = randomizer("laplace(epsilon=1)", &["0", "1", "0.5"])?;
    let middle = laplace.input(2)?;
    let response = randomizer(
        &format!("randomized-response(epsilon={}, secrets=2)", log(3.0)),
        &[],
    )?;
    let random = |p: f64| Ok::<f64, Error>(response.random_input(&[p, 1.0 - p])?.max_ratio());
    let close = |x: f64, y: f64| (x - y).abs() < 1e-12 * y;
    let blanket = middle.blanket_mass;
    let ratio = middle.max_ratio();
    let law = RatioLaw::from_probabilities(&[0.5, 0.3, 0.2], &[1.0 / 3.0; 3])?;
    let alone = law.success(&Game::new(1, 1)?).additive_advantage;
    Ok(vec![
        Comparison::claim(
            "Example VI.1",
            "mass of the blanket, ε = 1",
            "exp(−ε/2)",
            blanket,
            close(blanket, exp(-0.5)),
        ),
        Comparison::claim(
            "Example VI.1",
            "limit of Adv×, x₁ = 0.5, ε = 1",
            "exp(ε/2)",
            ratio,
            close(ratio, exp(0.5)),
        ),
        Comparison::number("Example IV.1", "β₂₀·20 + 1/21", "1.5", {
            20.0 * success(&linear()?, 20, 1)? + 1.0 / 21.0
        }),
        Comparison::number("Example VI.2", "M at p = 1", "3", random(1.0)?),
        Comparison::number("Example VI.2", "M at p = 0.5", "2", random(0.5)?),
        Comparison::claim(
            "Theorem 5",
            "Adv⁺ at n = 1 where Δ = 1/6",
            "at least Δ/n",
            alone,
            alone >= law.total_variation(),
        )
        .because("a single message is always found; the bound needs n ≥ 2"),
    ])
}
