//! Figures 9 and 10: the widths of groups in reference orders.

use rand::RngExt;

use super::super::{Comparison, FigureOutput, ReproduceOptions};
use super::{Spread, layers, spread};
use crate::evaluation::uniform_shuffle;
use leakgauge_base::error::Result;
use leakgauge_permute::{
    Groups, OrderChoice, OrderName, Points, Randomness, orders, spread as widths,
};
use leakgauge_plot::{Axis, Caption, Chart, Layer, chart};
use leakgauge_plot::{Figure, Table};

/// Numbers of rows, and graphs drawn for each.
const SIZES: [usize; 5] = [100, 250, 500, 1000, 2000];

/// The orders compared, and their names in the table.
const NAMES: [&str; 5] = [
    "reference",
    "breadth_first",
    "reverse_cuthill_mckee",
    "two_ended",
    "random",
];

/// Sizes of the points of the orders. Orders may have the same widths: later points are smaller and leave a rim of
/// earlier ones.
const SIZES_OF_POINTS: [f64; 5] = [1.9, 1.4, 1.4, 0.6, 0.6];

/// Widths of every order at one number of rows: the reference first, a random order last.
type Widths = [Spread; 5];

fn of_graph(groups: &Groups, reference: f64, randomness: &mut Randomness) -> [f64; 5] {
    let found = orders(groups, None, OrderChoice::Best);
    let width = |name: OrderName| {
        let order = found.iter().find(|order| order.name == name);
        order.map_or(f64::NAN, |order| order.width as f64)
    };
    let random = uniform_shuffle(groups.rows(), randomness);
    [
        reference,
        width(OrderName::BreadthFirst),
        width(OrderName::ReverseCuthillMckee),
        width(OrderName::TwoEnded),
        widths(groups, &random).width as f64,
    ]
}

fn over_trials(trials: Vec<[f64; 5]>) -> Widths {
    [0, 1, 2, 3, 4].map(|at| spread(&trials.iter().map(|trial| trial[at]).collect::<Vec<f64>>()))
}

fn picture(
    file: &'static str,
    title: &str,
    says: &str,
    reference: &str,
    y: Axis,
    rows: &[(usize, Widths)],
) -> Figure {
    let mut table = Table::new(&["n", "order", "width_mean", "width_standard_deviation"]);
    let mut all: Vec<Layer> = Vec::new();
    let shown = [
        reference,
        "breadth first (paper)",
        "reverse Cuthill–McKee",
        "two-ended",
        "random",
    ];
    for (at, name) in NAMES.iter().enumerate() {
        for (n, widths) in rows {
            table.push([
                (*n).into(),
                (*name).into(),
                widths[at].mean.into(),
                widths[at].deviation.into(),
            ]);
        }
        let points: Vec<(f64, Spread)> = rows.iter().map(|(n, w)| (*n as f64, w[at])).collect();
        let size = SIZES_OF_POINTS[at];
        let both = layers(shown[at], at, &points);
        all.extend(both.into_iter().map(|layer| layer.with_size(size)));
    }
    let svg = chart(&Chart {
        caption: Caption::new(title, says),
        x: Axis::linear("n"),
        y,
        layers: all,
        aspect: 0.62,
    });
    Figure { file, table, svg }
}

/// The end of an axis of widths, which starts at 0.
fn widest(rows: &[(usize, Widths)]) -> f64 {
    let all = rows.iter().flat_map(|(_, widths)| widths);
    1.04 * all
        .map(|width| width.mean + width.deviation)
        .fold(1.0, f64::max)
}

fn sizes(options: &ReproduceOptions) -> &'static [usize] {
    if options.priors >= 100 {
        &SIZES
    } else {
        &SIZES[..2]
    }
}

fn trials(options: &ReproduceOptions) -> u64 {
    if options.priors >= 100 { 10 } else { 2 }
}

/// Widths of n groups that are windows of a hidden order, w wide.
fn of_windows(n: usize, w: usize, seed: u64) -> Result<[f64; 5]> {
    let mut randomness = Randomness::seeded(seed);
    let hidden = uniform_shuffle(n, &mut randomness);
    let places: Vec<f64> = hidden.iter().map(|place| f64::from(*place)).collect();
    // w/2 to each side: w + 1 rows, w places from the first to the last.
    let groups = Groups::within(&Points::new(places, 1)?, (w / 2) as f64)?;
    Ok(of_graph(&groups, n.min(w) as f64, &mut randomness))
}

/// Groups that are windows of a hidden order.
pub(crate) fn figure_9(options: &ReproduceOptions) -> Result<FigureOutput> {
    const PANELS: [(usize, &str); 4] = [
        (4, "dsigma-figure-9-w4"),
        (10, "dsigma-figure-9-w10"),
        (20, "dsigma-figure-9-w20"),
        (50, "dsigma-figure-9-w50"),
    ];
    let mut made = FigureOutput::default();
    let mut worst = 0.0f64;
    let mut best_worst = 0.0f64;
    for (w, file) in PANELS {
        let mut rows = Vec::new();
        for &n in sizes(options) {
            let mut found = Vec::new();
            for trial in 0..trials(options) {
                found.push(of_windows(n, w, options.seed.wrapping_add(trial))?);
            }
            for widths in &found {
                worst = worst.max(widths[1] / widths[0]);
                best_worst = best_worst.max(widths[1].min(widths[2]).min(widths[3]) / widths[0]);
            }
            rows.push((n, over_trials(found)));
        }
        made.pictures.push(picture(
            file,
            &format!("Widths where the best order has width {w}"),
            "Breadth-first orders are two to three times as wide as the optimal order; a random order is as wide as the number of rows.",
            "optimal",
            Axis::log("width of the widest group"),
            &rows,
        ));
    }
    made.comparisons.push(
        Comparison::claim(
            "A.16",
            "largest width of the breadth-first order over the optimal one",
            "at most 2.5",
            worst,
            worst <= 2.5,
        )
        .because(
            "the paper does not state its groups; here the group of a row has the rows up to w/2 positions away",
        ),
    );
    made.notes.push(format!(
        "The best of the orders here is at most {best_worst:.2} times as wide as the optimal one."
    ));
    Ok(made)
}

/// Points of the unit interval.
pub(crate) fn figure_10(options: &ReproduceOptions) -> Result<FigureOutput> {
    const PANELS: [(f64, &str); 4] = [
        (0.0, "dsigma-figure-10-r0"),
        (0.01, "dsigma-figure-10-r0.01"),
        (0.05, "dsigma-figure-10-r0.05"),
        (0.2, "dsigma-figure-10-r0.2"),
    ];
    let mut made = FigureOutput::default();
    let mut always = true;
    for (r, file) in PANELS {
        let mut rows = Vec::new();
        for &n in sizes(options) {
            let mut found = Vec::new();
            for trial in 0..trials(options) {
                let mut randomness = Randomness::seeded(options.seed.wrapping_add(100 + trial));
                let places: Vec<f64> = (0..n).map(|_| randomness.random()).collect();
                let groups = Groups::within(&Points::new(places, 1)?, r)?;
                // A group of m rows is at least m − 1 wide.
                let least = super::mean_group(&groups) - 1.0;
                let widths = of_graph(&groups, least, &mut randomness);
                always &= widths[1] <= widths[4];
                found.push(widths);
            }
            rows.push((n, over_trials(found)));
        }
        made.pictures.push(picture(
            file,
            &format!("Widths of groups within {r} on the unit interval"),
            "The average group size minus 1 is a loose lower bound on the smallest possible width.",
            "average group size − 1",
            Axis::linear("width of the widest group").from_to(0.0, widest(&rows)),
            &rows,
        ));
    }
    made.comparisons.push(Comparison::statement(
        "A.16",
        "breadth-first against random orders",
        "consistently outperforms the random baseline",
        if always {
            "never wider"
        } else {
            "wider at times"
        },
        always,
    ));
    made.notes.push(
        "Width is the distance of a group's last row from its first, as in the paper's Section 4; its Appendix A.16 counts one more, and shows the average group size where this picture shows it minus 1. At r = 0 groups are single rows, whose width is 0."
            .to_owned(),
    );
    Ok(made)
}
