//! Jurado, Gonze, Alvim, Palamidessi, *Analyzing the Shuffle Model through the Lens of Quantitative
//! Information Flow*: Tables I to V, and the statements about them in the text.

use super::{Comparison, FigureOutput, ReproduceOptions};
use leakgauge_base::error::Result;
use leakgauge_exact::channel::{Channel, Prior};
use leakgauge_exact::shuffle::vulnerability::Datasets;
use leakgauge_plot::{Axis, Caption, Heatmap, heatmap};
use leakgauge_plot::{Figure, Table};

/// The paper's probability of a true report in its tables.
const KEEP: f64 = 0.75;

/// The printed entry for a dataset and an observation.
type Printed = Box<dyn Fn(&str, &str) -> f64>;

/// A printed channel.
struct Matrix {
    place: &'static str,
    file: &'static str,
    title: &'static str,
    channel: Channel,
    printed: Printed,
}

/// The channels of three people with two values.
pub(super) fn tables(_: &ReproduceOptions) -> Result<FigureOutput> {
    let matrices = matrices()?;
    let (short, reduced_noise) = (&matrices[4].channel, &matrices[5].channel);
    let words = printed_words(short, reduced_noise)?;
    Ok(FigureOutput {
        comparisons: matrices.iter().map(entries).chain(words).collect(),
        notes: vec!["p = 3/4; datasets are in lexicographic order here.".to_owned()],
        pictures: matrices.iter().map(picture).collect::<Result<_>>()?,
    })
}

fn matrices() -> Result<[Matrix; 7]> {
    let datasets = Datasets::new(2, 3)?;
    let (noise, shuffle, reduced) = (
        datasets.noise(KEEP)?,
        datasets.shuffle()?,
        datasets.reduced_shuffle()?,
    );
    let reduced_noise = datasets.reduced_noise(KEEP)?;
    let by_histogram = polynomials();
    let mut swapped = by_histogram;
    swapped[3].swap(1, 2);
    let mut divided = by_histogram;
    for entry in divided[1..3].iter_mut().flat_map(|row| &mut row[1..3]) {
        *entry /= 3.0;
    }
    let sizes = [1.0, 3.0, 3.0, 1.0];
    let same = |a: &str, b: &str| a.bytes().zip(b.bytes()).filter(|(x, y)| x == y).count() as i32;
    let alike = |a: &str, b: &str| f64::from(u8::from(class(a) == class(b)));
    let matrix = |place, file, title, channel, printed| Matrix {
        place,
        file,
        title,
        channel,
        printed,
    };
    let (both, short) = (noise.cascade(&shuffle)?, noise.cascade(&reduced)?);
    let other_way = reduced.cascade(&reduced_noise)?;
    Ok([
        matrix(
            "Table I(a)",
            "shuffle-flow-table-1a",
            "N: noise",
            noise,
            Box::new(move |a, b| KEEP.powi(same(a, b)) * (1.0 - KEEP).powi(3 - same(a, b))),
        ),
        matrix(
            "Table I(b)",
            "shuffle-flow-table-1b",
            "S: shuffling",
            shuffle,
            Box::new(move |a, b| alike(a, b) / sizes[class(a)]),
        ),
        matrix(
            "Table I(c)",
            "shuffle-flow-table-1c",
            "Sʳ: the histogram",
            reduced,
            Box::new(alike),
        ),
        matrix(
            "Table II",
            "shuffle-flow-table-2",
            "NS: noise and shuffling",
            both,
            Box::new(move |a, b| by_histogram[class(a)][class(b)] / sizes[class(b)]),
        ),
        matrix(
            "Table III",
            "shuffle-flow-table-3",
            "NSʳ: noise and the histogram",
            short,
            Box::new(move |a, b| swapped[class(a)][class(b)]),
        ),
        matrix(
            "Table IV",
            "shuffle-flow-table-4",
            "Nʳ: noise on histograms",
            reduced_noise,
            Box::new(move |a, b| divided[class(a)][class(b)]),
        ),
        matrix(
            "Table V",
            "shuffle-flow-table-5",
            "SʳNʳ: the histogram and noise",
            other_way,
            Box::new(move |a, b| by_histogram[class(a)][class(b)]),
        ),
    ])
}

/// The printed polynomials in p and q = 1 − p, by the numbers of b's before and after.
fn polynomials() -> [[f64; 4]; 4] {
    let (p, q) = (KEEP, 1.0 - KEEP);
    let (p3, q3, one, two) = (p * p * p, q * q * q, p * p * q, p * q * q);
    [
        [p3, 3.0 * one, 3.0 * two, q3],
        [one, p3 + 2.0 * two, 2.0 * one + q3, two],
        [two, 2.0 * one + q3, p3 + 2.0 * two, one],
        [q3, 3.0 * two, 3.0 * one, p3],
    ]
}

/// Whether every entry agrees with the printed one.
fn entries(matrix: &Matrix) -> Comparison {
    let channel = &matrix.channel;
    let mut differ = Vec::new();
    for (dataset, row) in channel.secrets().iter().zip(channel.rows()) {
        for (observation, &p) in channel.observations().iter().zip(row) {
            if (p - (matrix.printed)(dataset, observation)).abs() > 1e-15 {
                differ.push(format!("{dataset} to {observation}"));
            }
        }
    }
    let all = channel.values().len();
    let found = if differ.is_empty() {
        format!("{all} agree")
    } else {
        format!("{} agree, not {}", all - differ.len(), differ.join(", "))
    };
    let agrees = differ.is_empty();
    let quantity = format!("entries of {}", matrix.place);
    Comparison::statement(matrix.place, &quantity, &all.to_string(), &found, agrees)
}

/// The number of b's of a dataset, or of a histogram written `a2b1`.
fn class(label: &str) -> usize {
    match label.split_once('b') {
        Some((_, count)) if label.bytes().any(|c| c.is_ascii_digit()) => count.parse().unwrap_or(0),
        _ => label.bytes().filter(|c| *c == b'b').count(),
    }
}

/// Numbers in the captions and the text, and entries that are wrong.
fn printed_words(short: &Channel, reduced_noise: &Channel) -> Result<Vec<Comparison>> {
    let captions = "captions of Tables III and V";
    let (least, most) = short
        .values()
        .iter()
        .fold((1.0f64, 0.0f64), |(least, most), &p| {
            (least.min(p), most.max(p))
        });
    let mut words = vec![
        Comparison::number(captions, "largest entry at p = 0.75", "0.5156", most),
        Comparison::number(captions, "smallest entry at p = 0.75", "0.0156", least),
    ];
    words.extend(misprints(short, reduced_noise));
    words.extend(introduction()?);
    Ok(words)
}

/// What is printed and wrong.
fn misprints(short: &Channel, reduced_noise: &Channel) -> [Comparison; 6] {
    let entry = |channel: &Channel, row: usize, column: usize| channel.row(row)[column];
    let wrong = |place, quantity: &str, printed: &str, value, reason: &str| {
        Comparison::claim(place, quantity, printed, value, false).because(reason)
    };
    let swapped = "the entries of a2b1 and a1b2 are swapped in this row";
    let divided = "the middle 2×2 block must not be divided by 3: the printed rows sum to 11/24";
    [
        wrong(
            "Table III, row bbb",
            "bbb to a2b1",
            "3p²(1 − p) = 0.421875",
            entry(short, 7, 1),
            swapped,
        ),
        wrong(
            "Table III, row bbb",
            "bbb to a1b2",
            "3p(1 − p)² = 0.140625",
            entry(short, 7, 2),
            swapped,
        ),
        wrong(
            "Table IV",
            "a2b1 to a2b1, a1b2 to a1b2",
            "(p³ + 2p(1 − p)²)/3 = 0.171875",
            entry(reduced_noise, 1, 1),
            divided,
        ),
        wrong(
            "Table IV",
            "a2b1 to a1b2, a1b2 to a2b1",
            "(2p²(1 − p) + (1 − p)³)/3 = 0.0989583",
            entry(reduced_noise, 1, 2),
            divided,
        ),
        Comparison::statement(
            "section III-B",
            "what aab is shuffled to",
            "abb, aba, baa",
            "aab, aba, baa",
            false,
        )
        .because("shuffling keeps the histogram"),
        wrong(
            "section V",
            "datasets of three people with two values",
            "2^8",
            short.secrets().len() as f64,
            "2³ = 8",
        ),
    ]
}

/// What section I says about the vulnerabilities of its two mechanisms.
fn introduction() -> Result<[Comparison; 3]> {
    let (uninformed, strong) = vulnerabilities(1.0)?;
    let claim = |quantity, printed, value, agrees| {
        Comparison::claim("section I", quantity, printed, value, agrees)
    };
    Ok([
        claim(
            "vulnerability of the target under M′, uninformed, ε = 1",
            "as in the prior",
            uninformed[1],
            (uninformed[1] - 0.5).abs() < 1e-12,
        ),
        claim(
            "vulnerability of the target under M, uninformed, ε = 1",
            "above the prior",
            uninformed[0],
            uninformed[0] > 0.5,
        ),
        claim(
            "of M and M′ alike, everyone else known, ε = 1",
            "the same",
            strong[0],
            (strong[0] - strong[1]).abs() < 1e-12,
        ),
    ])
}

/// The mechanisms M and M′ of the introduction on three bits: the target's bit or its complement, and the
/// same inverted if the sum of the other bits is odd. Their vulnerabilities, uninformed and strong.
fn vulnerabilities(epsilon: f64) -> Result<([f64; 2], [f64; 2])> {
    let keep = 1.0 / (1.0 + (-epsilon).exp());
    let datasets = Datasets::new(2, 3)?;
    let row = |data: usize, turned: bool| {
        let odd = turned && (data & 1) ^ (data >> 1 & 1) == 1;
        let one = if (data >> 2 == 1) ^ odd {
            keep
        } else {
            1.0 - keep
        };
        [1.0 - one, one]
    };
    let (mut uninformed, mut strong) = ([0.0; 2], [0.0; 2]);
    for (at, turned) in [false, true].into_iter().enumerate() {
        let rows: Vec<[f64; 2]> = (0..8).map(|data| row(data, turned)).collect();
        uninformed[at] = datasets.single_target_vulnerability(&Channel::from_rows(&rows)?)?;
        let known = |others: usize| {
            let pair = Channel::from_rows(&[rows[others], rows[4 + others]])?;
            pair.vulnerability(&Prior::uniform(2))
        };
        strong[at] = (0..4).map(known).sum::<Result<f64>>()? / 4.0;
    }
    Ok((uninformed, strong))
}

fn picture(matrix: &Matrix) -> Result<Figure> {
    let channel = &matrix.channel;
    let mut table = Table::new(&["dataset", "observation", "probability"]);
    for (secret, row) in channel.secrets().iter().zip(channel.rows()) {
        for (observation, &p) in channel.observations().iter().zip(row) {
            table.push([secret.clone().into(), observation.clone().into(), p.into()]);
        }
    }
    let svg = heatmap(&Heatmap {
        caption: Caption::new(
            matrix.title,
            "Probability of each observation (column) for each dataset (row), p = 3/4.",
        ),
        rows: channel.secrets().to_vec(),
        columns: channel.observations().to_vec(),
        values: channel.values().iter().map(|&p| Some(p)).collect(),
        scale: Axis::linear("probability").from_to(0.0, 1.0),
        row_label: "dataset".to_owned(),
        column_label: "observation".to_owned(),
        marked: Vec::new(),
        low_is_bright: false,
        same_labels: false,
    });
    Ok(Figure {
        file: matrix.file,
        table,
        svg,
    })
}
