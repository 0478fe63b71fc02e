//! Figure 7: the share of a set that a shuffle preserves.

use leakgauge_base::parallel;

use super::super::{Comparison, FigureOutput, ReproduceOptions};
use leakgauge_base::error::Result;
use leakgauge_exact::mallows::Kendall;
use leakgauge_permute::{Randomness, bound_by_width};
use leakgauge_plot::{Axis, Caption, Chart, Layer, Mark, chart};
use leakgauge_plot::{Figure, Table};

/// The number of rows, and of shuffles per point.
const ROWS: u32 = 10_000;
const SHUFFLES: u64 = 50;

/// The least share, over the shuffles, of the set of so many rows in the middle that stays: with 50 shuffles at
/// least 99 % of them do no worse than the worst.
fn least(n: u32, shuffles: u64, set: u32, alpha: f64, width: u64, seed: u64) -> f64 {
    let model = Kendall {
        n,
        theta: alpha / bound_by_width(width) as f64,
    };
    let (from, to) = ((n - set) / 2, (n - set) / 2 + set);
    let stayed = |shuffle: u64| {
        let randomness = Randomness::seeded(seed);
        let sigma = model.sample(&mut randomness.stream(shuffle));
        let stay = |row: &&u32| (from..to).contains(*row);
        sigma[from as usize..to as usize]
            .iter()
            .filter(stay)
            .count()
    };
    let least = parallel::map(shuffles as usize, |at| stayed(at as u64));
    let least = least.into_iter().min().unwrap_or(0);
    least as f64 / f64::from(set)
}

type Line = (String, Vec<(f64, f64)>);

fn picture(
    file: &'static str,
    what: &str,
    x: Axis,
    columns: [&'static str; 3],
    lines: Vec<Line>,
) -> Figure {
    let mut table = Table::new(&columns);
    for (name, points) in &lines {
        for (x, y) in points {
            table.push([name.as_str().into(), (*x).into(), (*y).into()]);
        }
    }
    let layer =
        |(series, (name, points)): (usize, Line)| Layer::new(name, series, Mark::Line(points));
    let svg = chart(&Chart {
        caption: Caption::new(
            format!("Share of a set that a shuffle keeps in it, against {what}"),
            "A larger share stays for larger dispersion and for larger sets.",
        ),
        x,
        y: Axis::linear("η at δ = 0.01").from_to(0.0, 1.0),
        layers: lines.into_iter().enumerate().map(layer).collect(),
        aspect: 0.62,
    });
    Figure { file, table, svg }
}

const WIDTHS: [u64; 4] = [10, 30, 100, 300];
const SETS: [f64; 4] = [0.1, 0.25, 0.5, 0.8];
/// Where α is not swept.
const ALPHA: f64 = 3.0;

/// Against α, against the width, and against the size of the set; `eta` takes the set, α and the width.
fn sweeps(eta: impl Fn(f64, f64, u64) -> f64) -> [Vec<Line>; 3] {
    let by_alpha = WIDTHS.map(|width| {
        let points = (1..=20).map(|i| 0.5 * f64::from(i));
        let line = points.map(|alpha| (alpha, eta(0.25, alpha, width)));
        (format!("ω = {width}"), line.collect())
    });
    let by_width = SETS.map(|set| {
        let line = [3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000]
            .map(|width| (width as f64, eta(set, ALPHA, width)));
        (format!("l = {set} n"), line.to_vec())
    });
    let by_set = WIDTHS.map(|width| {
        let sets = (1..=19).map(|i| 0.05 * f64::from(i));
        let line = sets.map(|set| (set, eta(set, ALPHA, width)));
        (format!("ω = {width}"), line.collect())
    });
    [by_alpha.into(), by_width.into(), by_set.into()]
}

fn comparisons(by_width: &[Line]) -> Vec<Comparison> {
    let last = |line: &Line| line.1.last().map_or(0.0, |p| p.1);
    let floor = by_width.last().map_or(0.0, last);
    let falls = by_width.iter().all(|line| line.1[0].1 > last(line));
    vec![
        Comparison::claim(
            "A.14.1",
            "η of a set of 80 % of the rows at the largest width",
            "no worse than about 80 %",
            floor,
            (0.7..=1.0).contains(&floor),
        ),
        Comparison::statement(
            "A.14.1",
            "η from the smallest to the largest width, α = 3",
            "declines with increasing width",
            if falls {
                "declines for every set"
            } else {
                "does not for every set"
            },
            falls,
        ),
    ]
}

/// The three sweeps.
pub(crate) fn figure_7(options: &ReproduceOptions) -> Result<FigureOutput> {
    let n = ROWS.min(options.rows as u32);
    let shuffles = if options.priors >= 100 { SHUFFLES } else { 5 };
    let [by_alpha, by_width, by_set] = sweeps(|set, alpha, width| {
        let set = (set * f64::from(n)) as u32;
        least(n, shuffles, set, alpha, width, options.seed)
    });
    Ok(FigureOutput {
        comparisons: comparisons(&by_width),
        notes: vec![format!(
            "{n} rows, {shuffles} shuffles per point, θ = 2α/ω(ω + 1), the set in the middle of the reference order. Panel a: a set of a quarter of the rows. The paper does not state its widths and set sizes."
        )],
        pictures: vec![
            picture(
                "dsigma-figure-7a",
                "α",
                Axis::linear("α"),
                ["width", "alpha", "eta"],
                by_alpha,
            ),
            picture(
                "dsigma-figure-7b",
                "width",
                Axis::log("width ω (α = 3)"),
                ["set", "width", "eta"],
                by_width,
            ),
            picture(
                "dsigma-figure-7c",
                "the size of the set",
                Axis::linear("size of the set, share of all rows (α = 3)"),
                ["width", "set", "eta"],
                by_set,
            ),
        ],
    })
}
