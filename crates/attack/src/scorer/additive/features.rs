//! What an additive attack looks at: columns, their differences, the bits of their numbers, each in bins.

use hashbrown::HashMap;
use leakgauge_log::observations::{Counts, Observations, Part};

/// What the terms are functions of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The columns one by one.
    Columns,
    /// The first column of numbers and the difference of each from the one before: what sums of noise are made of.
    Steps,
    /// The columns of numbers, and the lowest bit that is set in each: rounding tells how a number was computed.
    Bits,
}

impl View {
    /// Its name in parameters.
    pub fn name(self) -> &'static str {
        match self {
            View::Columns => "columns",
            View::Steps => "steps",
            View::Bits => "bits",
        }
    }
}

/// Bins of a column of numbers at most: a power of two, so that coarser bins are unions of these.
pub const BINS: usize = 32;
/// Values of a label column, or lowest bits, that are told apart.
const MAX_CODES: usize = 4096;
/// Numbers that ends of bins are learned from at most, each time evenly thinned.
const MAX_VALUES: usize = 50_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Number(usize),
    /// This column less the one before.
    Step(usize),
    LowestBit(usize),
    Label(usize),
}

#[derive(Debug, Clone)]
enum Coding {
    /// Upper ends of all bins but the last.
    Bins(Vec<f64>),
    Bits(HashMap<u64, u16>),
    Words(HashMap<String, u16>),
}

/// A function of an observation with few values.
#[derive(Debug, Clone)]
pub struct Feature {
    source: Source,
    coding: Coding,
}

impl Feature {
    /// The number of values but the one of whatever is new.
    pub fn size(&self) -> usize {
        match &self.coding {
            Coding::Bins(ends) => ends.len() + 1,
            Coding::Bits(codes) => codes.len(),
            Coding::Words(codes) => codes.len(),
        }
    }

    /// Whether coarser bins make sense.
    pub fn is_binned(&self) -> bool {
        self.size() == BINS && matches!(self.coding, Coding::Bins(_))
    }

    /// The value of an observation; [`size`](Self::size) for what is new.
    pub fn of(&self, observations: &Observations, symbol: u32) -> usize {
        let new = self.size();
        match (&self.coding, self.source) {
            (Coding::Bins(ends), source) => {
                let number = number(source, observations, symbol);
                ends.partition_point(|&end| end < number)
            }
            (Coding::Bits(codes), Source::LowestBit(at)) => {
                let bit = lowest_bit(observations.numbers(symbol)[at]);
                codes.get(&bit).map_or(new, |&code| code.into())
            }
            (Coding::Words(codes), Source::Label(at)) => {
                let word = observations.label_at(symbol, at);
                codes.get(word).map_or(new, |&code| code.into())
            }
            _ => new,
        }
    }
}

fn number(source: Source, observations: &Observations, symbol: u32) -> f64 {
    match source {
        Source::Number(at) | Source::LowestBit(at) => observations.numbers(symbol)[at],
        Source::Step(at) => {
            let numbers = observations.numbers(symbol);
            // Halves, because the difference of two numbers may overflow.
            0.5 * numbers[at] - 0.5 * numbers[at - 1]
        }
        Source::Label(_) => 0.0,
    }
}

/// The features of a view, ends and values from the fit rows; `alike`: all columns of numbers have the same bins.
/// Features with a single value are left out; `None` if no feature is left, or none that the view adds.
pub fn features(
    observations: &Observations,
    fit: &Counts,
    view: View,
    alike: bool,
) -> Option<Vec<Feature>> {
    let ids = fit.symbols();
    let thin = thin(&ids);
    let sources = sources(observations, &thin, view);
    let adds = |source: &Source| match view {
        View::Columns => true,
        View::Steps => matches!(source, Source::Step(_)),
        View::Bits => matches!(source, Source::LowestBit(_)),
    };
    let of_numbers = |source: &Source| matches!(source, Source::Number(_) | Source::Step(_));
    if !sources.iter().any(adds) || (alike && !sources.iter().all(of_numbers)) {
        return None;
    }
    let shared = alike.then(|| {
        let thinner = thin.iter().step_by(sources.len().min(thin.len()).max(1));
        let values = thinner.flat_map(|&symbol| {
            let of = move |source: &Source| number(*source, observations, symbol);
            sources.iter().map(of)
        });
        ends(values.collect())
    });
    let feature = |source: Source| {
        let coding = match source {
            Source::Label(at) => Coding::Words(words(observations, &ids, at)),
            Source::LowestBit(at) => Coding::Bits(bits(observations, &ids, at)),
            _ => Coding::Bins(shared.clone().unwrap_or_else(|| {
                let values = thin
                    .iter()
                    .map(|&symbol| number(source, observations, symbol));
                ends(values.collect())
            })),
        };
        Feature { source, coding }
    };
    let features: Vec<Feature> = sources.into_iter().map(feature).collect();
    let features: Vec<Feature> = features
        .into_iter()
        .filter(|feature| feature.size() > 1)
        .collect();
    let is_left = features.iter().any(|feature| adds(&feature.source));
    is_left.then_some(features)
}

/// What a view looks at.
fn sources(observations: &Observations, thin: &[u32], view: View) -> Vec<Source> {
    let mut sources = Vec::new();
    for (_, part) in observations.parts() {
        match (part, view) {
            (Part::Label(at), _) => sources.push(Source::Label(at)),
            (Part::Number(at), View::Steps) if at > 0 => sources.push(Source::Step(at)),
            (Part::Number(at), View::Bits) => {
                sources.push(Source::Number(at));
                if is_printed_in_full(observations, thin, at) {
                    sources.push(Source::LowestBit(at));
                }
            }
            (Part::Number(at), _) => sources.push(Source::Number(at)),
        }
    }
    sources
}

/// At most so many observations as ends are learned from, evenly spread.
pub fn thin(ids: &[u32]) -> Vec<u32> {
    let step = ids.len().div_ceil(MAX_VALUES).max(1);
    ids.iter().copied().step_by(step).collect()
}

/// Ends of bins with about equally many values. With so many distinct values as there are bins or fewer, each has its
/// own.
fn ends(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let mut distinct = values.clone();
    distinct.dedup();
    let between = |below: f64, above: f64| {
        let middle = 0.5 * below + 0.5 * above;
        if middle < above { middle } else { below }
    };
    if distinct.len() <= BINS {
        return distinct
            .windows(2)
            .map(|pair| between(pair[0], pair[1]))
            .collect();
    }
    let mut ends: Vec<f64> = (1..BINS)
        .map(|at| values[at * values.len() / BINS])
        .collect();
    ends.dedup();
    ends
}

fn words(observations: &Observations, ids: &[u32], at: usize) -> HashMap<String, u16> {
    let mut codes = HashMap::new();
    for &symbol in ids {
        let next = codes.len();
        let word = observations.label_at(symbol, at);
        if next < MAX_CODES || codes.contains_key(word) {
            codes.entry_ref(word).or_insert(next as u16);
        }
    }
    codes
}

fn bits(observations: &Observations, ids: &[u32], at: usize) -> HashMap<u64, u16> {
    let mut codes = HashMap::new();
    for &symbol in ids {
        let next = codes.len();
        let bit = lowest_bit(observations.numbers(symbol)[at]);
        if next < MAX_CODES || codes.contains_key(&bit) {
            codes.entry(bit).or_insert(next as u16);
        }
    }
    codes
}

/// Whether most numbers of a column have more digits than a rounded one: the lowest bit says something then.
pub fn is_printed_in_full(observations: &Observations, ids: &[u32], at: usize) -> bool {
    const ZEROS: u32 = 12;
    let full = ids.iter().filter(|&&symbol| {
        let fraction = observations.numbers(symbol)[at].to_bits() & ((1 << 52) - 1);
        fraction != 0 && fraction.trailing_zeros() < ZEROS
    });
    2 * full.count() > ids.len()
}

/// The binary exponent of the lowest bit set in a number, with an offset; for 0 and what is not finite its bits.
pub fn lowest_bit(value: f64) -> u64 {
    let bits = value.to_bits();
    let exponent = (bits >> 52) & 0x7ff;
    if value == 0.0 || exponent == 0x7ff {
        return bits;
    }
    let fraction = bits & ((1 << 52) - 1);
    let (significand, exponent) = if exponent == 0 {
        (fraction, 1)
    } else {
        (fraction | 1 << 52, exponent)
    };
    exponent + u64::from(significand.trailing_zeros())
}
